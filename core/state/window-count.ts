const BUCKETS = 10;

/** How often something happened in the last `windowMs`. Times are on the router's clock; whole tenths of it are forgotten at once. */
export class WindowCount {
  readonly #bucketMs: number;
  readonly #counts = new Int32Array(BUCKETS);
  #bucket = 0;
  #total = 0;

  constructor(windowMs: number) {
    this.#bucketMs = windowMs / BUCKETS;
  }

  add(nowMs: number): void {
    this.#counts[this.#turn(nowMs)]! += 1;
    this.#total += 1;
  }

  /** Takes one of the present bucket back, if there is one. */
  takeBack(nowMs: number): void {
    const bucket = this.#turn(nowMs);
    if (this.#counts[bucket] === 0) return;
    this.#counts[bucket]! -= 1;
    this.#total -= 1;
  }

  total(nowMs: number): number {
    this.#turn(nowMs);
    return this.#total;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }

  /** Forgets the buckets that time has passed over; the index of the present one. */
  #turn(nowMs: number): number {
    const bucket = Math.floor(nowMs / this.#bucketMs);
    for (let passed = Math.max(this.#bucket + 1, bucket - BUCKETS + 1); passed <= bucket; passed++) {
      this.#total -= this.#counts[passed % BUCKETS]!;
      this.#counts[passed % BUCKETS] = 0;
    }
    this.#bucket = Math.max(this.#bucket, bucket);
    return this.#bucket % BUCKETS;
  }
}
