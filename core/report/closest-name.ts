const LONGEST_COMPARED = 64;

/**
 * The candidate most similar to a mistyped word; undefined when none is similar enough. Compares `mostCompared` at most, the first: one
 * comparison can take 20 µs.
 */
export function closestName(
  word: string,
  candidates: Iterable<string>,
  mostCompared = Number.POSITIVE_INFINITY,
): string | undefined {
  if (word.length > LONGEST_COMPARED) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  let compared = 0;
  for (const candidate of candidates) {
    const most = Math.min(bestDistance - 1, word.length - 1, Math.max(1, Math.max(word.length, candidate.length) / 3));
    // The distance is at least the difference of the lengths.
    if (candidate.length > LONGEST_COMPARED || Math.abs(word.length - candidate.length) > most) continue;
    if (++compared > mostCompared) break;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance > most) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** Number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let distance = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
