import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { Random } from "../../core/contract/profile-plugin.ts";

/** Up to this many candidates, an insertion sort is faster than a call of the engine's sort. */
const INSERT_AT_MOST = 16;
/** A slice of it is one allocation; a list that grows takes several. */
const ASCENDING: readonly number[] = Array.from({ length: INSERT_AT_MOST }, (_, index) => index);

/** The candidates in descending order of their keys; equal keys come in random order. */
export function descendingOrder(candidates: readonly Endpoint[], keys: ArrayLike<number>, random: Random): readonly Endpoint[] {
  if (candidates.length < 2) return candidates;
  const order = sortedIndexes(keys, candidates.length);
  shuffleTies(order, keys, random);
  const sorted = candidates.slice();
  for (let place = 0; place < sorted.length; place++) sorted[place] = candidates[order[place]!]!;
  return sorted;
}

function sortedIndexes(keys: ArrayLike<number>, count: number): number[] {
  if (count > INSERT_AT_MOST) return Array.from({ length: count }, (_, index) => index).sort((a, b) => keys[b]! - keys[a]! || 0);
  const order = ASCENDING.slice(0, count);
  for (let next = 1; next < count; next++) {
    let place = next;
    for (; place > 0 && keys[order[place - 1]!]! < keys[next]!; place--) order[place] = order[place - 1]!;
    order[place] = next;
  }
  return order;
}

function shuffleTies(order: number[], keys: ArrayLike<number>, random: Random): void {
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && keys[order[end]!] === keys[order[start]!]) end++;
    shuffle(order, start, end, random);
    start = end;
  }
}

/** Fisher-Yates over order[start, end). */
function shuffle(order: number[], start: number, end: number, random: Random): void {
  for (let last = end - 1; last > start; last--) {
    const other = start + Math.floor(random() * (last - start + 1));
    const moved = order[last]!;
    order[last] = order[other]!;
    order[other] = moved;
  }
}
