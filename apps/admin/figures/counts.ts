import { Bounds } from "../../../core/contract/histogram.ts";

/** Times are counted in steps of 9 %, from 1 ms to 17 minutes. */
const TIMES = Bounds.growing(1, 2 ** 20, 2 ** (1 / 8));

/** What is counted and summed, by its place; the buckets of times to the first token come after these. */
export const AT = {
  ...{ requests: 0, clientErrors: 1, clientsLeft: 2, routerErrors: 3, replicaErrors: 4, overloads: 5 },
  ...{ promptTokens: 6, cachedTokens: 7, outputTokens: 8, streamTokens: 9, streamMs: 10 },
} as const;
const FIRST_TIME = 11;

/** So many numbers are counts of one stretch of time. */
export const WIDTH = FIRST_TIME + TIMES.ends.length + 1;

/** Counts what requests meet. Times are on the router's clock. */
export interface Counter {
  /** Adds to the number at a place of `AT`; NaN and what is below 0 change nothing. */
  add(place: number, amount: number, nowMs: number): void;
}

/** Counts a time to the first token, in milliseconds; NaN and what is below 0 change nothing. */
export function countTime(counter: Counter, ms: number, nowMs: number): void {
  if (ms >= 0) counter.add(FIRST_TIME + TIMES.bucketOf(ms), 1, nowMs);
}

/** What counts say of times and caches; null where nothing is known. */
export function measuresOf(counts: Float64Array) {
  const [ttftP50Ms = null, ttftP95Ms = null] = quantiles(counts.subarray(FIRST_TIME), [0.5, 0.95]);
  return { ttftP50Ms, ttftP95Ms, hitRate: ratio(counts[AT.cachedTokens]!, counts[AT.promptTokens]!) };
}

export const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);

/** In milliseconds, to a tenth; empty when no time was counted. */
function quantiles(times: Float64Array, shares: readonly number[]): readonly number[] {
  let count = 0;
  for (const one of times) count += one;
  if (count === 0) return [];
  return shares.map((share) => Math.round(TIMES.valueAtRank(times, Math.ceil(share * count)) * 10) / 10);
}
