import { z } from "../../core/contract/options.ts";
import type { Row, Unit } from "../../core/settings/row.ts";
import { bytes, milliseconds, numberAbove, numberFrom, partOf, seconds, whole } from "./values.ts";

// Between the config's documents and the settings' tables (core/settings/).

const NUMBERS: Readonly<Record<Unit, (min: number, max: number, least?: number) => z.ZodType<number>>> = {
  count: whole,
  bytes,
  milliseconds,
  seconds: (minMs, maxMs) => seconds(minMs / 1000, Math.floor(maxMs / 1000)),
  share: (min, max) => numberFrom(min, max, `a share from ${min} to ${max}`),
  percent: numberAbove,
  part: partOf,
};

/** What a section is made of, by the router's own names for its keys: rows of a table, and schemas of other values. */
type Parts = Readonly<Record<string, Row | z.ZodType>>;
type ValueOf<Part> = Part extends z.ZodType<infer Value> ? Value : Part extends { default: infer Value } ? Value : number;
type ValuesOf<Section extends Parts> = { readonly [Name in keyof Section]: ValueOf<Section[Name]> };

/**
 * The schema of a section. A key may be left out if it is a row or `defaults` has a value for it. What comes out of the schema has the
 * router's own names and units.
 */
export function section<Section extends Parts>(parts: Section, defaults: Partial<ValuesOf<Section>> = {}) {
  const keys = Object.entries(parts).map(([name, part]) => {
    const otherwise = (defaults as Readonly<Record<string, unknown>>)[name];
    if (!("~standard" in part)) return { name, key: part.key ?? name, schema: setting(part, otherwise) };
    return { name, key: name, schema: otherwise === undefined ? part : orElse(part, otherwise) };
  });
  const written = z.strictObject(Object.fromEntries(keys.map(({ key, schema }) => [key, schema])));
  return written.transform((spec) => Object.fromEntries(keys.map(({ name, key }) => [name, spec[key]])) as ValuesOf<Section>);
}

/** The schema of a setting that may be left out. */
export function setting<Setting extends Row>(row: Setting, otherwise?: unknown) {
  const fallback = otherwise ?? ("default" in row ? row.default : undefined);
  const told = "default" in row && !("choices" in row) ? ` Default ${inConfig(row, row.default)}.` : "";
  const written = schemaOf(row).describe(`${row.text}${told}`);
  const schema = isInSeconds(row) ? written.transform((value) => Math.round(Number(value) * 1000)) : written;
  return orElse(schema as z.ZodType<ValueOf<Setting>>, fallback as ValueOf<Setting>);
}

function schemaOf(row: Row): z.ZodType {
  if ("choices" in row) return z.enum(row.choices);
  return "unit" in row ? NUMBERS[row.unit](row.min, row.max, row.least) : z.boolean();
}

/** A schema for a key that may be left out and stands for `value` then. */
export function orElse<Value>(schema: z.ZodType<Value>, value: Value) {
  return schema.optional().transform((given) => given ?? value);
}

/** A schema for a section that may be left out, as may all of its keys. */
export function orEmpty<Value>(schema: z.ZodType<Value>, text: string) {
  return orElse(schema.describe(text), schema.parse({}));
}

/** The other way: settings as a section of the config has them. */
export function writtenOf(rows: Readonly<Record<string, Row>>, values: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries<unknown>({ ...values });
  return Object.fromEntries(entries.map(([name, value]) => [rows[name]?.key ?? name, inConfig(rows[name], value)]));
}

const isInSeconds = (row: Row | undefined) => row !== undefined && "unit" in row && row.unit === "seconds";
const inConfig = (row: Row | undefined, value: unknown) => (isInSeconds(row) ? Number(value) / 1000 : value);
