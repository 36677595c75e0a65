/** A limit is tried once so much of it is used, and then grows by this. */
const TRIED = 0.9;
const GROWTH = 1.25;

/** How many requests of this router each engine can run at once, as the queues that engines report show; Infinity before any. By slot. */
export class EngineLimits {
  readonly #limits: Float64Array;

  constructor(slots: number) {
    this.#limits = new Float64Array(slots).fill(Number.POSITIVE_INFINITY);
  }

  of(slot: number): number {
    return this.#limits[slot]!;
  }

  /** An engine with a queue runs what it can. One without a queue that is as full as that may run more. `waiting`: NaN for unknown. */
  reported(slot: number, waiting: number, inFlight: number): void {
    const limit = this.of(slot);
    if (Number.isNaN(waiting)) this.#limits[slot] = Number.POSITIVE_INFINITY;
    else if (waiting > 0) this.#limits[slot] = inFlight - waiting;
    else if (inFlight >= TRIED * limit) this.#limits[slot] = Math.max(limit, inFlight) * GROWTH + 1;
  }
}
