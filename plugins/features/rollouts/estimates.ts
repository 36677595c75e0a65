import type { Histogram } from "../../../core/contract/histogram.ts";
import type { Distribution, Estimate } from "./rollout-shapes.ts";

/** Of a normal distribution: 95 % are within so many standard deviations. */
const Z95 = 1.959964;

/** Mean and quantiles of what was counted; null if nothing was. */
export function distributionOf(histogram: Histogram): Distribution | null {
  if (histogram.count === 0) return null;
  const { count } = histogram;
  return { count, mean: meanOf(histogram), p50: quantileOf(histogram, 0.5), p95: quantileOf(histogram, 0.95) };
}

/** With the interval of the central limit theorem. */
function meanOf({ count, sum, sumOfSquares }: Histogram): Estimate {
  const value = sum / count;
  if (count < 2) return { value, low: null, high: null };
  const variance = Math.max(0, (sumOfSquares - count * value * value) / (count - 1));
  const half = Z95 * Math.sqrt(variance / count);
  return { value, low: Math.max(0, value - half), high: value + half };
}

/** With the interval between two ranks that hold it whatever the distribution is; null where there is no such rank yet. */
function quantileOf({ bounds, counts, count }: Histogram, share: number): Estimate {
  const rank = share * count;
  const half = Z95 * Math.sqrt(count * share * (1 - share));
  const at = (wanted: number) => {
    const value = bounds.valueAtRank(counts, wanted);
    return Number.isNaN(value) ? null : value;
  };
  return { value: at(rank) ?? 0, low: at(rank - half), high: at(rank + half) };
}

/** The Wilson score interval of a rate (Wilson 1927, J. Am. Stat. Assoc. 22): it is within [0, 1] and holds near both ends. */
export function wilson(errors: number, requests: number): Estimate {
  const value = errors / requests;
  const spread = Z95 ** 2 / requests;
  const middle = (value + spread / 2) / (1 + spread);
  const half = (Z95 * Math.sqrt((value * (1 - value)) / requests + spread / (4 * requests))) / (1 + spread);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
