import { quoted } from "./problems.ts";

const LONGEST_COMPARED = 64;

/** A hint that names the candidate most similar to a mistyped word; "" when none is similar enough. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const closest = closestTo(word, candidates);
  return closest === undefined ? "" : `Did you mean ${quoted(closest)}?`;
}

function closestTo(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (word.length > LONGEST_COMPARED || candidate.length > LONGEST_COMPARED) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const isClose = distance < word.length && distance <= Math.max(1, Math.max(word.length, candidate.length) / 3);
    if (!isClose || distance >= bestDistance) continue;
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
