import { Gambler } from "../../../core/state/gambler.ts";

// Whether one of two targets is worse than the other, judged after every request.
//
// Requests are grouped into blocks that have both targets in them. Each block has a payoff in [lowest, 1] whose expectation is at most 0
// as long as the target is not worse than allowed, whatever came before: a Gambler stakes on it. So the look after every request costs
// nothing, and a target that becomes worse after a day is still found.
//
// Since each payoff compares requests of the same time, drift that both targets share cancels out.

/** Values of one target in a block; the latest ones, if there are more. */
const BLOCK_VALUES = 64;

class BlockValues {
  readonly values: number[] = [];
  #seen = 0;

  add(value: number): void {
    this.values[this.#seen % BLOCK_VALUES] = value;
    this.#seen += 1;
  }

  clear(): void {
    this.values.length = 0;
    this.#seen = 0;
  }
}

/**
 * Tests, after each value, whether the target is worse than its baseline by more than is allowed. A block ends as soon as it has
 * values of both: which of them comes next was drawn without regard to the values.
 */
export class SequentialTest {
  /** No payoff is less. */
  readonly lowest: number;
  readonly #gambler = new Gambler();
  readonly #payoff: (target: readonly number[], baseline: readonly number[]) => number;
  readonly #target = new BlockValues();
  readonly #baseline = new BlockValues();

  constructor(lowest: number, payoff: (target: readonly number[], baseline: readonly number[]) => number) {
    this.lowest = lowest;
    this.#payoff = payoff;
  }

  /**
   * How much speaks for "worse": if it is not, the probability that this is ever 1/a or more is at most a (an e-process; 1 at the
   * start).
   */
  get evidence(): number {
    return this.#gambler.capital;
  }

  /** Returns the payoff of the block that it ends; undefined for none. */
  add(isTarget: boolean, value: number): number | undefined {
    (isTarget ? this.#target : this.#baseline).add(value);
    const target = this.#target.values;
    const baseline = this.#baseline.values;
    if (target.length === 0 || baseline.length === 0) return undefined;
    const payoff = this.#payoff(target, baseline);
    this.pay(payoff);
    this.dropBlock();
    return payoff;
  }

  /** Of a block, of this router or of another one: all are staked on one after the other. */
  pay(payoff: number): void {
    this.#gambler.pay(payoff, this.lowest);
  }

  /** Forgets the values of the block under way, so that no block has values of two different times. */
  dropBlock(): void {
    this.#target.clear();
    this.#baseline.clear();
  }
}

/**
 * Values are 1 for an error, else 0. Null hypothesis: at any time the target's error rate is at most the baseline's plus `margin`,
 * which is in [0, 1). Payoff: the difference of the rates in the block, minus `margin`.
 */
export function errorRateTest(margin: number): SequentialTest {
  return new SequentialTest(-1 - margin, (target, baseline) => meanOf(target) - meanOf(baseline) - margin);
}

/**
 * Values are times above 0. Null hypothesis: at any time, a request to the target is at most as likely to take more than
 * `1 + margin` times as long as one to the baseline as it is to take less. Payoff: over all pairs of the block, the share in which
 * it took more, minus the share in which it took less. Only the order counts, so no time is so long that it decides alone, and
 * nothing is assumed of the distribution.
 */
export function slownessTest(margin: number): SequentialTest {
  return new SequentialTest(-1, (target, baseline) => {
    let difference = 0;
    for (const one of target) for (const other of baseline) difference += Math.sign(one / (1 + margin) - other);
    return difference / (target.length * baseline.length);
  });
}

function meanOf(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
