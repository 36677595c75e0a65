let scratch = new Float64Array(256);

/** The median of the first `count` values; NaN of none. All calls share memory: nothing of it is kept. */
export function median(values: Float64Array, count: number): number {
  if (count > scratch.length) scratch = new Float64Array(2 * count);
  const sorted = scratch.subarray(0, count);
  sorted.set(values.subarray(0, count));
  sorted.sort();
  return (sorted[(count - 1) >>> 1]! + sorted[count >>> 1]!) / 2;
}
