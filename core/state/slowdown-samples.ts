// What a replica took, beside what the pool takes for the same, allows an interval of slowdowns, because some of a prompt's tokens
// may have been cached. A wide interval allows nearly all values and so decides nothing; samples that are wrong, because the cache
// held less than was believed, are wrong each in its own way. So another slowdown is believed when the latest samples agree on it.

/** Samples that are kept: with noise of 20 percent in each, about 25 are needed. */
const KEPT = 32;
/** Differences below this factor are noise. */
const TOLERANCE = 1.1;

/** How many more of the latest `since` samples allow the value than the slowdown believed. */
interface Lead {
  readonly value: number;
  readonly samples: number;
  readonly since: number;
}

/** The latest samples of one replica, and the slowdown that they let believe. */
export class SlowdownSamples {
  /** How many times as long as a usual replica it takes, as is believed; 1 if nothing else is known. */
  slowdown = 1;
  readonly #least = new Float64Array(KEPT);
  readonly #most = new Float64Array(KEPT);
  #next = 0;
  #count = 0;

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
    return this.#allows(at, this.slowdown);
  }

  /**
   * Believes another slowdown if, since some moment, at least `needed` more samples allow it than the one believed. What came before
   * that moment is forgotten: it tells how fast the replica was. Returns whether it believes another one now.
   */
  update(needed: number): boolean {
    let best: Lead = { value: this.slowdown, samples: 0, since: this.#count };
    const consider = (value: number) => {
      const lead = this.#leadOf(value);
      if (lead.samples >= needed && isBetter(lead, best)) best = lead;
    };
    consider(1);
    // What samples allow changes only at their bounds.
    for (let at = 0; at < KEPT; at++) {
      consider(this.#least[at]!);
      consider(this.#most[at]!);
    }
    const isOther = best.value !== this.slowdown;
    this.slowdown = best.value;
    this.#count = best.since;
    return isOther;
  }

  /** Counted since the moment that is best for the value. */
  #leadOf(value: number): Lead {
    let best: Lead = { value, samples: 0, since: this.#count };
    if (!(value > 0 && value < Number.POSITIVE_INFINITY)) return best;
    let samples = 0;
    for (let since = 1; since <= this.#count; since++) {
      const at = (this.#next + KEPT - since) % KEPT;
      samples += Number(this.#allows(at, value)) - Number(this.#allows(at, this.slowdown));
      if (samples > best.samples) best = { value, samples, since };
    }
    return best;
  }

  #allows(at: number, value: number): boolean {
    return this.#least[at]! <= value && value <= this.#most[at]!;
  }
}

/** Of those that as many samples speak for, the one nearest to 1. */
function isBetter(lead: Lead, than: Lead): boolean {
  if (lead.samples !== than.samples) return lead.samples > than.samples;
  return Math.abs(Math.log(lead.value)) < Math.abs(Math.log(than.value));
}
