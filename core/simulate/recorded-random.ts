import type { Random } from "../contract/profile-plugin.ts";
import { seededRandom } from "../contract/test-kit.ts";

/** Random numbers that can be drawn again, so that a decision can be repeated with other facts and the same luck. */
export class RecordedRandom {
  readonly #random: Random;
  readonly #drawn: number[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  readonly record: Random = () => {
    const number = this.#random();
    this.#drawn.push(number);
    return number;
  };

  /** The numbers drawn so far, in order. Whoever wants more gets others, of which `record` knows nothing. */
  replay(): Random {
    const more = seededRandom(this.#drawn.length);
    let next = 0;
    return () => this.#drawn[next++] ?? more();
  }
}
