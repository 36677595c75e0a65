// A test that may be looked at after every observation: a game in which the null hypothesis is the bank.
//
// Each payoff has an expectation of at most 0 as long as the null hypothesis holds, whatever came before. A gambler who has 1 at the
// start and stakes a part of it on each payoff can then win nothing on average: his capital is a nonnegative supermartingale, and by
// Ville's inequality (Ville 1939, Étude critique de la notion de collectif) the probability that it EVER reaches 1/a is at most a. So
// there is no number of observations to agree on.
//
// Capital after payoffs x1, x2 … of a gambler who stakes the share f: the product of 1 + f * x / |lowest|, 0 < f < 1 (Waudby-Smith
// and Ramdas 2024, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86(1), section 4). The best f is
// unknown, and so is the payoff with which the null hypothesis ceases to hold. Means of supermartingales are supermartingales, so both
// are averaged over: a few f with equal parts, and every payoff as the beginning, with the parts of `notYetBegun`. What becomes worse
// after a day is still found, and the bound holds for all days together (method of mixtures: Robbins 1970, Ann. Math. Stat. 41(5);
// over beginnings: Shin, Ramdas and Rinaldo 2024, "E-detectors", New Engl. J. Stat. Data Sci. 2(2)).

/** The staked shares of the capital. Small differences are won with small stakes, large ones quickly with large stakes. */
const STAKES = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.95];
/** Capital is not counted beyond this; less is still a supermartingale. */
const MOST_CAPITAL = 1e100;

/** The part of the capital that is not staked yet after so many payoffs: half at the start, and slowly less. */
function notYetBegun(payoffs: number): number {
  return 0.5 / (1 + Math.log(1 + payoffs));
}

/** Stakes on payoffs whose expectation is at most 0 under the null hypothesis. */
export class Gambler {
  readonly #capitals = STAKES.map(() => 1 - notYetBegun(0));
  #waiting = notYetBegun(0);
  #payoffs = 0;

  /** 1 at the start. If the null hypothesis holds, the probability that it is ever 1/a or more is at most a (an e-process). */
  get capital(): number {
    return this.#waiting + this.#capitals.reduce((sum, capital) => sum + capital, 0) / STAKES.length;
  }

  /** `lowest`, below 0: the payoff can't be less. It is known before the payoff is. */
  pay(payoff: number, lowest: number): void {
    const entering = this.#waiting - notYetBegun(this.#payoffs + 1);
    this.#payoffs += 1;
    this.#waiting -= entering;
    for (let index = 0; index < STAKES.length; index++) {
      const growth = 1 - (STAKES[index]! * payoff) / lowest;
      this.#capitals[index] = Math.min(MOST_CAPITAL, (this.#capitals[index]! + entering) * growth);
    }
  }
}
