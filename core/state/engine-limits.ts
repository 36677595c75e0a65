import type { ScrapedValues } from "../contract/load-view.ts";

/** A limit is tried once so much of it is used, and then grows by this. */
const TRIED = 0.9;
const GROWTH = 1.02;
const LEAST_GROWTH = 0.2;
/** A cache so full lets no request in. */
const FULL_CACHE = 0.95;
/** An engine that runs the same number so often while others wait runs all it can. */
const REPEATED = 5;

/**
 * How many requests of this router each engine can run at once, as its reports show; Infinity before they show any. By slot. A queue
 * alone shows nothing: an engine takes in only so many prompts in a step. It has a limit if it has a full cache, or has a queue at the
 * same number of running requests again and again, which is the most it ever had.
 */
export class EngineLimits {
  readonly #limits: Float64Array;
  /** The most requests that ran while others waited, and how often that was reported. */
  readonly #most: Float64Array;
  readonly #times: Int32Array;

  constructor(slots: number) {
    this.#limits = new Float64Array(slots).fill(Number.POSITIVE_INFINITY);
    this.#most = new Float64Array(slots);
    this.#times = new Int32Array(slots);
  }

  of(slot: number): number {
    return this.#limits[slot]!;
  }

  reported(slot: number, { waiting, running, kvUsage = 0 }: ScrapedValues, inFlight: number): void {
    const limit = this.of(slot);
    if (waiting === undefined) this.#forget(slot);
    else if (waiting === 0) {
      if (inFlight >= TRIED * limit) this.#limits[slot] = Math.max(limit, inFlight) * GROWTH + LEAST_GROWTH;
    } else if (kvUsage >= FULL_CACHE || (running !== undefined && this.#isMost(slot, running)))
      this.#limits[slot] = inFlight - waiting;
  }

  #isMost(slot: number, running: number): boolean {
    if (running < this.#most[slot]!) return false;
    this.#times[slot] = running === this.#most[slot] ? this.#times[slot]! + 1 : 1;
    this.#most[slot] = running;
    return this.#times[slot]! >= REPEATED;
  }

  #forget(slot: number): void {
    this.#limits[slot] = Number.POSITIVE_INFINITY;
    this.#most[slot] = 0;
    this.#times[slot] = 0;
  }
}
