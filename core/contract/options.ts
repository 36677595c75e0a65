/** The only import of the schema library: plugin options and config documents are declared with `z`. */
export { z } from "zod";

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
