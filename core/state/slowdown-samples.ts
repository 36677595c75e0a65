// What a replica took, beside what the pool takes for the same, allows an interval of slowdowns, because some of a prompt's tokens
// may have been cached. A wide interval allows nearly all values and so decides nothing; samples that are wrong, because the cache
// held less than was believed, are wrong each in its own way. So another slowdown is believed when the latest samples agree on it.

/** Samples that are kept. */
const KEPT = 16;
/** Differences below this factor are noise. */
const TOLERANCE = 1.1;

/** The latest samples of one replica, and the slowdown that they let believe. */
export class SlowdownSamples {
  readonly #least = new Float64Array(KEPT);
  readonly #most = new Float64Array(KEPT);
  #next = 0;
  #count = 0;
  #believed = 1;

  /** How many times as long as a usual replica it takes; 1 if nothing else is known. */
  get slowdown(): number {
    return this.#believed;
  }

  /**
   * The replica took from `least` to `most` times as long as a usual one; `most` may be Infinity. Returns whether that agrees with
   * the slowdown that was believed.
   */
  add(least: number, most: number): boolean {
    const at = this.#next;
    this.#least[at] = least / TOLERANCE;
    this.#most[at] = most * TOLERANCE;
    this.#next = (at + 1) % KEPT;
    this.#count = Math.min(this.#count + 1, KEPT);
    return this.#allows(at, this.#believed);
  }

  /** Believes another slowdown if, since some moment, at least `needed` more samples allow it than the one believed. */
  update(needed: number): void {
    let best = this.#believed;
    let lead = 0;
    const consider = (value: number) => {
      const itsLead = this.#leadOf(value);
      if (itsLead < needed || itsLead < lead || (itsLead === lead && distance(value) >= distance(best))) return;
      best = value;
      lead = itsLead;
    };
    consider(1);
    // What samples allow changes only at their bounds.
    for (let at = 0; at < this.#count; at++) {
      consider(this.#least[at]!);
      consider(this.#most[at]!);
    }
    this.#believed = best;
  }

  /** How many more of the latest samples allow it than the slowdown believed, counted since the moment that is best for it. */
  #leadOf(value: number): number {
    if (!(value > 0 && value < Number.POSITIVE_INFINITY)) return 0;
    let lead = 0;
    let best = 0;
    for (let age = 1; age <= this.#count; age++) {
      const at = (this.#next + KEPT - age) % KEPT;
      lead += Number(this.#allows(at, value)) - Number(this.#allows(at, this.#believed));
      best = Math.max(best, lead);
    }
    return best;
  }

  #allows(at: number, value: number): boolean {
    return this.#least[at]! <= value && value <= this.#most[at]!;
  }
}

/** Of a factor from 1. */
function distance(factor: number): number {
  return Math.abs(Math.log(factor));
}
