import { z } from "zod";

/** The only import of the schema library: plugin options and config documents are declared with `z`. */
export { z };

/** A list whose type is read-only. */
export const listOf = <Item>(item: z.ZodType<Item>): z.ZodType<readonly Item[]> => z.array(item);

/** Text of at least one character, without control characters that would break a header or a log line. */
export const lineOfText = z.string().regex(/^[^\x00-\x1f\x7f]+$/, "text on one line, without control characters");

/**
 * Any Standard Schema (https://standardschema.dev) may declare a plugin's options.
 *
 * @example
 * const options = z.strictObject({ size: z.int().min(1).default(100) });
 */
export interface OptionSchema<Options> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Options> | Promise<SchemaResult<Options>>;
    readonly types?: { readonly input: unknown; readonly output: Options } | undefined;
  };
}

export type SchemaResult<Options> =
  | { readonly value: Options; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
