import { z } from "../core/contract/options.ts";
import { durationMs, sizeBytes } from "./units.ts";

// Numbers that may be written with a unit: 75 or 75s, 33554432 or 32MiB.

const DURATION = /^(\d+(\.\d+)?|\.\d+) ?(ms|s|m|min|h|d)$/i;
const SIZE = /^(\d+(\.\d+)?|\.\d+) ?([KMGT]i?)?B$/i;

/** A time that the key counts in seconds. */
export function inSeconds(number: z.ZodType<number, number>): z.ZodType<number> {
  return withUnit(number, DURATION, "a time such as 75s", (text) => (durationMs(text, 1000) ?? Number.NaN) / 1000);
}

/** A time that the key counts in milliseconds. */
export function inMilliseconds(number: z.ZodType<number, number>): z.ZodType<number> {
  return withUnit(number, DURATION, "a time such as 75s", (text) => durationMs(text, 1) ?? Number.NaN);
}

/** A size in bytes. */
export function inBytes(number: z.ZodType<number, number>): z.ZodType<number> {
  return withUnit(number, SIZE, "a size such as 32MiB", (text) => sizeBytes(text) ?? Number.NaN);
}

function withUnit(
  number: z.ZodType<number, number>,
  pattern: RegExp,
  wanted: string,
  read: (text: string) => number,
): z.ZodType<number> {
  const text = z.string(wanted).regex(pattern, wanted).transform(read).pipe(number);
  return z.union([number, text]);
}
