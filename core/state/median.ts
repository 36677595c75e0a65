let scratch = new Float64Array(256);

/**
 * The median of the first `count` values, together with `priors` times the value `prior`. NaN of none. All calls share memory:
 * nothing of it is kept.
 */
export function median(values: Float64Array, count: number, prior = 0, priors = 0): number {
  const all = count + priors;
  if (all > scratch.length) scratch = new Float64Array(2 * all);
  const sorted = scratch.subarray(0, all);
  sorted.set(values.subarray(0, count));
  sorted.fill(prior, count);
  sorted.sort();
  return (sorted[(all - 1) >>> 1]! + sorted[all >>> 1]!) / 2;
}
