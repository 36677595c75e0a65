import { z } from "../../core/contract/options.ts";
import { durationMs, sizeBytes } from "./units.ts";

// Values that the schemas of several documents are made of. The messages name what is wanted.

/** The name of an instance, an endpoint or a profile. */
export const instanceName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'a name of letters, digits, ".", "_" and "-", at most 128, with a letter or digit first',
  );

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "a header name");

export const urlPath = z.string().regex(/^\/[\x21-\x7e]*$/, 'a path that starts with "/"');

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const wanted = `a whole number from ${min} to ${max}`;
  return z.int(wanted).min(min, wanted).max(max, wanted);
}

/** A number from `min` to `max`. */
export function numberFrom(min: number, max: number, wanted = `a number from ${min} to ${max}`) {
  return z.number(wanted).min(min, wanted).max(max, wanted);
}

/** A scorer's weight in a profile. */
export const profileWeight = numberFrom(0, 1_000_000);

/** A number above `min`, at most `max`: percent. */
export function numberAbove(min: number, max: number) {
  const wanted = `a number above ${min}, at most ${max}`;
  return z.number(wanted).gt(min, wanted).max(max, wanted);
}

/** A number from `min` to below `max`, or the same in percent: 0.02 or 2%. */
export function partOf(min: number, max: number) {
  const wanted = `a number from ${min} to below ${max}, or percent such as 2%`;
  const number = z.number(wanted).min(min, wanted).lt(max, wanted);
  return orText(number, /^\d+(\.\d+)? ?%$/, wanted, (text) => Number.parseFloat(text) / 100);
}

export const DURATION = /^(\d+(\.\d+)?|\.\d+) ?(ms|s|m|min|h|d)$/i;
export const SIZE = /^(\d+(\.\d+)?|\.\d+) ?([KMGT]i?)?B$/i;

/** Seconds, or a time with its unit: 75 or 1.5h. Fractions are allowed. */
export function seconds(min: number, max: number) {
  const isAnyAbove = min > 0 && min < 1;
  const bounds = isAnyAbove ? `above 0, at most ${max}` : `from ${min} to ${max}`;
  const number = numberFrom(min, max, `a number of seconds ${bounds}`);
  return orText(number, DURATION, "a time such as 75s", (text) => (durationMs(text, 1000) ?? Number.NaN) / 1000);
}

/** Whole milliseconds, or a time with its unit: 250 or 75s. */
export function milliseconds(min: number, max: number) {
  return orText(whole(min, max), DURATION, "a time such as 75s", (text) => durationMs(text, 1) ?? Number.NaN);
}

/** Bytes, or a size with its unit: 33554432 or 32MiB. Below `least` there is only 0. */
export function bytes(min: number, max: number, least = min) {
  const size = orText(whole(min, max), SIZE, "a size such as 32MiB", (text) => sizeBytes(text) ?? Number.NaN);
  if (least === min) return size;
  return size.refine((value) => value <= 0 || value >= least, `0 or at least ${least} bytes, such as 256MiB`);
}

function orText(number: z.ZodType<number, number>, pattern: RegExp, wanted: string, read: (text: string) => number) {
  return z.union([number, z.string(wanted).regex(pattern, wanted).transform(read).pipe(number)]);
}
