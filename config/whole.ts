import { z } from "../core/contract/options.ts";

/** A whole number from `min` to `max`; the message names the bounds. */
export function whole(min: number, max: number) {
  const wanted = `a whole number from ${min} to ${max}`;
  return z.int(wanted).min(min, wanted).max(max, wanted);
}
