import { z } from "../../core/contract/options.ts";
import type { NumberRow, Setting, Unit } from "../../core/settings/row.ts";
import { bytes, milliseconds, numberAbove, numberFrom, partOf, seconds, whole } from "./values.ts";

// Between the config's documents and the settings' tables (core/settings/).

const NUMBERS: Readonly<Record<Unit, (min: number, max: number) => z.ZodType<number>>> = {
  count: whole,
  bytes,
  milliseconds,
  seconds: (minMs, maxMs) => seconds(minMs / 1000, Math.floor(maxMs / 1000)),
  share: (min, max) => numberFrom(min, max, `a share from ${min} to ${max}`),
  percent: numberAbove,
  part: partOf,
};

type Row = Setting | NumberRow;
type Rows = Readonly<Record<string, Row>>;

/**
 * The schema of a section that has a table's keys, each of which may be left out, behind others. What comes out of it has all of the
 * table's values, in the router's own names and units.
 */
export function section<Values extends object, Others extends z.ZodRawShape>(
  rows: Rows,
  defaults: Values,
  others: Others = {} as Others,
) {
  const written = z.strictObject({ ...others, ...shapeOf(rows, defaults) });
  return written.transform((spec) => valuesOf<Values & z.infer<z.ZodObject<Others>>>(rows, spec));
}

/** The schemas of a table's keys. Only `valuesOf` knows what comes out of them. */
export function shapeOf(rows: Rows, defaults: object): Readonly<Record<never, z.ZodType>> {
  const written = writtenOf(rows, defaults);
  return Object.fromEntries(
    Object.entries(rows).map(([name, { key = name, ...row }]) => [key, orElse(described(row), written[key])]),
  );
}

/** The schema of one setting that may be left out. */
export function setting<Value>(row: Setting & { readonly default: Value }) {
  return orElse(described(row) as z.ZodType<Value>, row.default);
}

/** A schema for a key that may be left out and stands for `value` then. */
export function orElse<Value>(schema: z.ZodType<Value>, value: Value) {
  return schema.optional().transform((given) => given ?? value);
}

/** What a section says, in the router's own names and units. What has no row stays as it is. */
export function valuesOf<Values extends object>(rows: Rows, spec: object): Values {
  const names = new Map(Object.entries(rows).map(([name, { key = name }]) => [key, name]));
  const values = Object.entries<unknown>({ ...spec }).map(([key, value]) => {
    const name = names.get(key) ?? key;
    return [name, isInSeconds(rows[name]) ? Math.round(Number(value) * 1000) : value];
  });
  return Object.fromEntries(values) as Values;
}

/** The other way: settings as a section of the config has them. */
export function writtenOf(rows: Rows, values: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries<unknown>({ ...values }).map(([name, value]) => {
    const row = rows[name];
    return [row?.key ?? name, isInSeconds(row) ? Number(value) / 1000 : value];
  });
  return Object.fromEntries(entries);
}

const isInSeconds = (row: Row | undefined) => row !== undefined && "unit" in row && row.unit === "seconds";

function described(row: Row): z.ZodType {
  if ("choices" in row) return z.enum(row.choices).describe(row.text);
  const value = "unit" in row ? NUMBERS[row.unit](row.min, row.max) : z.boolean();
  if (!("default" in row)) return value.describe(row.text);
  return value.describe(`${row.text} Default ${isInSeconds(row) ? Number(row.default) / 1000 : row.default}.`);
}
