// What other routers say is read with these, field by field. Fields behind those that are known are a newer release's.

/** A fact that can't be read. */
export class BadFact extends Error {}

/**
 * A whole number from 0 to `most`.
 *
 * @example
 * const [name, requests] = ["gold", 7];
 * const use = { name: text(name, 100), requests: whole(requests, 1_000) };
 */
export function whole(value: unknown, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new BadFact("no whole number, or too large");
}

/** A moment on a clock, in milliseconds. */
export function moment(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new BadFact("no number");
}

export function text(value: unknown, mostChars: number): string {
  if (typeof value === "string" && value.length <= mostChars) return value;
  throw new BadFact("no text, or too long");
}

export function list(value: unknown, most: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value;
  throw new BadFact("no list, or too long");
}
