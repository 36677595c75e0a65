/** The middle one of the values that are numbers; NaN when there is none. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1 || sorted.length === 0) return sorted[middle] ?? Number.NaN;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}
