import type { Endpoint } from "../../core/contract/endpoint.ts";

/**
 * score = (max - n) / (max - min), where n = `numberOf(slot)` and less is better; 1 for all when all are equal. Null for a number
 * that is unknown (not finite), and null for the whole list when all are unknown.
 */
export function leastFirst(
  candidates: readonly Endpoint[],
  numberOf: (slot: number) => number,
): readonly (number | null)[] | null {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const { slot } of candidates) {
    const number = numberOf(slot);
    if (!Number.isFinite(number)) continue;
    if (number < min) min = number;
    if (number > max) max = number;
  }
  if (min > max) return null;
  return candidates.map(({ slot }) => {
    const number = numberOf(slot);
    if (!Number.isFinite(number)) return null;
    return max === min ? 1 : (max - number) / (max - min);
  });
}
