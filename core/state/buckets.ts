import type { Distribution } from "../contract/mirror.ts";

/** Counts values in buckets. */
export class Buckets implements Distribution {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  /** `bounds` are the upper ends of the buckets, ascending; values beyond the last are counted in one more. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > this.bounds[index]!) index += 1;
    this.counts[index]! += 1;
    this.sum += value;
    this.count += 1;
  }
}
