/** Counts of the last minutes, in buckets of time with `width` numbers each. As time passes, the oldest bucket is forgotten as a whole. */
export class SlidingWindow {
  /** Bucket after bucket. */
  readonly numbers: Float64Array;
  readonly #bucketMs: number;
  readonly #buckets: number;
  readonly #width: number;
  #bucket = 0;
  /** Where the present bucket begins in `numbers`, and when it ends. */
  #at = 0;
  #endsAtMs: number;

  constructor(bucketMs: number, buckets: number, width: number) {
    this.numbers = new Float64Array(buckets * width);
    this.#bucketMs = bucketMs;
    this.#buckets = buckets;
    this.#width = width;
    this.#endsAtMs = bucketMs;
  }

  /**
   * Forgets the buckets that time has passed over. Returns where the numbers of the present one begin. `nowMs` is on the router's clock,
   * never below 0; a time before the latest one counts as the latest one.
   */
  at(nowMs: number): number {
    // Almost every call ends here.
    if (nowMs < this.#endsAtMs) return this.#at;
    const bucket = Math.floor(nowMs / this.#bucketMs);
    const passed = Math.min(bucket - this.#bucket, this.#buckets);
    this.#bucket = bucket;
    this.#endsAtMs = (bucket + 1) * this.#bucketMs;
    this.#at = this.before(0);
    for (let ago = 0; ago < passed; ago++) this.numbers.fill(0, this.before(ago), this.before(ago) + this.#width);
    return this.#at;
  }

  /** Where the numbers of an earlier bucket begin, so many before the present one as `at` last found it. */
  before(ago: number): number {
    return ((this.#bucket + this.#buckets - ago) % this.#buckets) * this.#width;
  }

  add(place: number, amount: number, nowMs: number): void {
    this.numbers[this.at(nowMs) + place]! += amount;
  }

  /** Takes back what was added at an earlier moment, unless it is forgotten. */
  takeBack(place: number, amount: number, thenMs: number, nowMs: number): void {
    this.at(nowMs);
    const ago = Math.max(0, this.#bucket - Math.floor(thenMs / this.#bucketMs));
    if (ago < this.#buckets) this.numbers[this.before(ago) + place]! -= amount;
  }

  /** Of all buckets. */
  sum(place: number, nowMs: number): number {
    this.at(nowMs);
    let sum = 0;
    for (let at = place; at < this.numbers.length; at += this.#width) sum += this.numbers[at]!;
    return sum;
  }

  /** Of all buckets, for each place. */
  sums(nowMs: number): Float64Array {
    this.at(nowMs);
    const sums = this.numbers.slice(0, this.#width);
    for (let from = this.#width; from < this.numbers.length; from += this.#width)
      for (let place = 0; place < this.#width; place++) sums[place]! += this.numbers[from + place]!;
    return sums;
  }

  clear(): void {
    this.numbers.fill(0);
  }
}
