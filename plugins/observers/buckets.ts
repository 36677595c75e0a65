// The numbers of one histogram series: a Float64Array with the count of each bucket, one more bucket for what is above the last
// bound, and, at its end, the sum of all values.

/** Upper ends of buckets for times of requests, in seconds: from 1 ms to 10 minutes, each 2 to 3 times the one before. */
export const REQUEST_SECONDS: readonly number[] = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  ...[1, 2, 5, 10, 20, 60, 120, 300, 600],
];

/** The same for times that are short while all is well, such as a decision's: from 10 microseconds to 10 seconds. */
export const SHORT_SECONDS: readonly number[] = [
  ...[0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005],
  ...[0.01, 0.02, 0.05, 0.1, 0.5, 1, 10],
];

export type Buckets = Float64Array;

export function makeBuckets(bounds: readonly number[]): Buckets {
  return new Float64Array(bounds.length + 2);
}

/** Counts one value; NaN and negative values, which no time can be, are left out. */
export function observe(buckets: Buckets, bounds: readonly number[], value: number): void {
  if (!(value >= 0)) return;
  let index = 0;
  while (index < bounds.length && value > bounds[index]!) index += 1;
  buckets[index]! += 1;
  buckets[bounds.length + 1]! += value;
}

export function addBuckets(into: Buckets, from: Buckets): void {
  for (let index = 0; index < into.length; index++) into[index]! += from[index]!;
}

/** The bounds as text, made once for each list: numbers take most of a page's time. */
const ENDS = new WeakMap<readonly number[], readonly string[]>();

function endsOf(bounds: readonly number[]): readonly string[] {
  const known = ENDS.get(bounds) ?? bounds.map((bound) => `le="${bound}"} `);
  ENDS.set(bounds, known);
  return known;
}

/** The lines of one series; `pairs` are its labels as `labelPairs` writes them. Empty if nothing was counted. */
export function bucketLines(name: string, pairs: string, bounds: readonly number[], buckets: Buckets): string {
  const start = `${name}_bucket{${pairs === "" ? "" : `${pairs},`}`;
  const ends = endsOf(bounds);
  let total = 0;
  let text = "";
  for (let index = 0; index < ends.length; index++) {
    total += buckets[index]!;
    text += `${start}${ends[index]}${total}\n`;
  }
  total += buckets[bounds.length]!;
  if (total === 0) return "";
  const labels = pairs === "" ? "" : `{${pairs}}`;
  return `${text}${start}le="+Inf"} ${total}\n${name}_sum${labels} ${buckets[bounds.length + 1]}\n${name}_count${labels} ${total}\n`;
}
