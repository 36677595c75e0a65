import { stickyPosition } from "./sticky-position.ts";

/**
 * Which draw of `drawShare` draw number `n` (from 0) is, where draws are shuffled: each run of W / d draws (W the sum of the weights,
 * d their common divisor) is turned by a number of places that looks random. So shares stay exact over every whole run, and each
 * draw is as likely each target as its weight says: requests that come in a regular order, such as short ones and long ones in
 * turns, are never in step with the targets.
 */
export function shuffledTurn(rule: string, weights: readonly number[], n: number): number {
  const length = weights.reduce((sum, weight) => sum + weight, 0) / weights.reduce(commonDivisor);
  const run = Math.floor(n / length);
  const places = Math.floor(stickyPosition(rule, `run ${run}`) * length);
  return run * length + ((n - run * length + places) % length);
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other);
}
