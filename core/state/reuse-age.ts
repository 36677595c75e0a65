/** The mean is taken over about so many of the latest reuses. */
const MEMORY = 100;

/** After how many admissions of other prompts a cached prompt is usually asked for again, learned from those that were. */
export class ReuseAge {
  #mean = 0;
  #reuses = 0;

  /** A prompt was used again after so many admissions. */
  learn(age: number): void {
    this.#reuses = Math.min(this.#reuses + 1, MEMORY);
    this.#mean += (age - this.#mean) / this.#reuses;
  }

  /**
   * The chance, in [0, 1), that a prompt that nobody used for `age` admissions is asked for again: about a half at the usual age of a
   * reuse, less the longer it was not used. 0 before any reuse was seen.
   */
  chanceAt(age: number): number {
    return this.#mean / (this.#mean + age + 1);
  }
}
