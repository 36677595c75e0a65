import type { Endpoint } from "../../core/contract/endpoint.ts";

/**
 * Scores candidates by a number, by slot, of which less is better: (max - n) / (max - min), and 1 for all when all are equal.
 * A number that is not known (not finite) gets no opinion, and neither does a list in which none is known.
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
