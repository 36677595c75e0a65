// Whether one of two targets is worse than the other, judged after every request.
//
// The test is a game in which the null hypothesis is the bank. Requests are grouped into blocks that have both targets in them. Each
// block has a payoff in [lowest, 1] whose expectation is at most 0 as long as the target is not worse than allowed, whatever came
// before. A gambler who has 1 at the start and stakes a part of it on each payoff can then win nothing on average: his capital is a
// nonnegative supermartingale, and by Ville's inequality (Ville 1939, Étude critique de la notion de collectif) the probability that
// it EVER reaches 1/a is at most a. So the look after every request costs nothing, and there is no number of requests to agree on.
//
// Capital after payoffs x1, x2 … of a gambler who stakes the share f: the product of 1 + f * x / |lowest|, 0 < f < 1 (Waudby-Smith
// and Ramdas 2024, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86(1), section 4). The best f is
// unknown, and so is the request with which the target becomes worse. Means of supermartingales are supermartingales, so both are
// averaged over: a few f with equal parts, and every block as the beginning, with the parts of `notYetBegun`. A target that
// becomes worse after a day is still found, and the bound holds for all days together (method of mixtures: Robbins 1970, Ann. Math.
// Stat. 41(5); over beginnings: Shin, Ramdas and Rinaldo 2024, "E-detectors", New Engl. J. Stat. Data Sci. 2(2)).
//
// Since each payoff compares requests of the same time, drift that both targets share cancels out.

/** The staked shares of the capital. Small differences are won with small stakes, large ones quickly with large stakes. */
const STAKES = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.95];
/** Capital is not counted beyond this; less is still a supermartingale. */
const MOST_CAPITAL = 1e100;

/** The part of the capital that is not staked yet after so many payoffs: half at the start, and slowly less. */
function notYetBegun(payoffs: number): number {
  return 0.5 / (1 + Math.log(1 + payoffs));
}

/** Stakes on payoffs in [`lowest`, 1], with `lowest` below 0, whose expectation is at most 0 under the null hypothesis. */
class Gambler {
  readonly #lowest: number;
  readonly #capitals = STAKES.map(() => 1 - notYetBegun(0));
  #waiting = notYetBegun(0);
  #payoffs = 0;

  constructor(lowest: number) {
    this.#lowest = lowest;
  }

  /** 1 at the start. */
  get capital(): number {
    return this.#waiting + this.#capitals.reduce((sum, capital) => sum + capital, 0) / STAKES.length;
  }

  pay(payoff: number): void {
    const entering = this.#waiting - notYetBegun(this.#payoffs + 1);
    this.#payoffs += 1;
    this.#waiting -= entering;
    for (let index = 0; index < STAKES.length; index++) {
      const growth = 1 - (STAKES[index]! * payoff) / this.#lowest;
      this.#capitals[index] = Math.min(MOST_CAPITAL, (this.#capitals[index]! + entering) * growth);
    }
  }
}

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
  readonly #gambler: Gambler;
  readonly #payoff: (target: readonly number[], baseline: readonly number[]) => number;
  readonly #target = new BlockValues();
  readonly #baseline = new BlockValues();

  constructor(lowest: number, payoff: (target: readonly number[], baseline: readonly number[]) => number) {
    this.#gambler = new Gambler(lowest);
    this.#payoff = payoff;
  }

  /**
   * How much speaks for "worse": if it is not, the probability that this is ever 1/a or more is at most a (an e-process; 1 at the
   * start).
   */
  get evidence(): number {
    return this.#gambler.capital;
  }

  add(isTarget: boolean, value: number): void {
    (isTarget ? this.#target : this.#baseline).add(value);
    const target = this.#target.values;
    const baseline = this.#baseline.values;
    if (target.length === 0 || baseline.length === 0) return;
    this.#gambler.pay(this.#payoff(target, baseline));
    this.dropBlock();
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
