/** After so many requests for adapters, one counts half. */
const HALF_LIFE = 256;
const MOST_NAMES = 1024;

interface Asked {
  count: number;
  /** The number of the request with which it was counted last. */
  at: number;
}

/** How often adapters are asked for, lately. */
export class Popularity {
  readonly #byName = new Map<string, Asked>();
  #total = 0;
  #requests = 0;

  asked(name: string): void {
    this.#requests += 1;
    this.#total = this.#total * 2 ** (-1 / HALF_LIFE) + 1;
    const count = this.#countOf(name) + 1;
    this.#byName.delete(name);
    this.#byName.set(name, { count, at: this.#requests });
    const [oldest] = this.#byName.keys();
    if (this.#byName.size > MOST_NAMES) this.#byName.delete(oldest!);
  }

  /** How likely it is asked for again soon, in [0, 1): 0.5 for one that is asked for as often as others. */
  chanceOf(name: string): number {
    const count = this.#countOf(name);
    return count === 0 ? 0 : count / (count + this.#total / this.#byName.size);
  }

  #countOf(name: string): number {
    const asked = this.#byName.get(name);
    return asked === undefined ? 0 : asked.count * 2 ** ((asked.at - this.#requests) / HALF_LIFE);
  }
}
