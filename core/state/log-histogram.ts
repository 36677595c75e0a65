import type { Distribution, Estimate } from "../contract/rollout.ts";

/** Each bucket ends 5 % above the one before, so a quantile is off by 2.5 % at most. */
const GROWTH = Math.log(1.05);
const LEAST = 0.01;
/** More than this counts as this: what replicas report is not always true. */
const MOST = 1e7;
const BUCKETS = Math.ceil(Math.log(MOST / LEAST) / GROWTH) + 1;
/** Of a normal distribution: 95 % are within so many standard deviations. */
export const Z95 = 1.959964;

/** Counts positive numbers in buckets of growing width: mean and quantiles in a few kilobytes, however many there are. */
export class LogHistogram {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #sum = 0;
  #sumOfSquares = 0;

  /** Ignores what is no number from 0. */
  add(number: number): void {
    if (!(number >= 0)) return;
    const value = Math.min(number, MOST);
    const bucket = value <= LEAST ? 0 : Math.ceil(Math.log(value / LEAST) / GROWTH);
    this.#counts[bucket]! += 1;
    this.#count += 1;
    this.#sum += value;
    this.#sumOfSquares += value * value;
  }

  /** Null without a number. */
  distribution(): Distribution | null {
    if (this.#count === 0) return null;
    return { count: this.#count, mean: this.#mean(), p50: this.#quantile(0.5), p95: this.#quantile(0.95) };
  }

  /** With the interval of the central limit theorem. */
  #mean(): Estimate {
    const count = this.#count;
    const value = this.#sum / count;
    if (count < 2) return { value, low: null, high: null };
    const variance = Math.max(0, (this.#sumOfSquares - count * value * value) / (count - 1));
    const half = Z95 * Math.sqrt(variance / count);
    return { value, low: Math.max(0, value - half), high: value + half };
  }

  /** With the interval between two ranks that hold it whatever the distribution is; null where there is no such rank yet. */
  #quantile(share: number): Estimate {
    const rank = share * this.#count;
    const half = Z95 * Math.sqrt(this.#count * share * (1 - share));
    return { value: this.#atRank(rank) ?? 0, low: this.#atRank(rank - half), high: this.#atRank(rank + half) };
  }

  /** The middle of the bucket with the number of this rank, from 0 to the count; null beyond. */
  #atRank(rank: number): number | null {
    if (rank < 0 || rank > this.#count) return null;
    let passed = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      passed += this.#counts[bucket]!;
      if (passed > 0 && passed >= rank) return LEAST * Math.exp(GROWTH * Math.max(0, bucket - 0.5));
    }
    return null;
  }
}
