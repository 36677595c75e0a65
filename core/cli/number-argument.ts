import { UsageError } from "./usage.ts";

/** Reads a number within bounds; `name` is what the message calls it. Throws UsageError. */
export function numberArgument(name: string, text: string, min: number, max: number, isWhole = false): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`${name} wants a ${isWhole ? "whole " : ""}number from ${min} to ${max}, not "${text}".`);
}
