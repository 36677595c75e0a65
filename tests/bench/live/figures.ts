import { quantile } from "../../../apps/lab/simulate/metrics.ts";

/** Times to the first token of one run, in seconds of the trace's own time. */
export interface FirstTokens {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
}

/** `seconds` in any order; all figures are NaN when there are none. */
export function firstTokensOf(seconds: readonly number[]): FirstTokens {
  const sorted = Float64Array.from(seconds).sort();
  return { mean: meanOf(sorted), p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index]!;
  return sum / values.length;
}
