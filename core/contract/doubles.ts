let zeros = makeZeros(64);

/**
 * A list of zeros that V8 keeps as doubles, as scores and their sums are: another list is converted when its first score is stored. A
 * slice, because a list that grows is copied; a plain array, because V8 allocates typed arrays of this size outside its heap.
 *
 * @example
 * score: (_request, candidates, load) => {
 *   const scores = doubleZeros(candidates.length);
 *   for (let at = 0; at < scores.length; at++) scores[at] = 1 / (1 + load.inFlight(candidates[at]!.slot));
 *   return scores;
 * }
 */
export function doubleZeros(length: number): number[] {
  if (length > zeros.length) zeros = makeZeros(2 * length);
  return zeros.slice(0, length);
}

/** The first fill makes it a list of doubles; the second does not change that. */
function makeZeros(length: number): number[] {
  return new Array<number>(length).fill(0.5).fill(0);
}
