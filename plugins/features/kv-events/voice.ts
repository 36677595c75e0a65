/** A promise that was wrong counts so much against a replica, and one that was right so much for it: what tells 10 % wrong from 40 %. */
const WRONG = Math.log(0.4 / 0.1);
const RIGHT = Math.log(0.6 / 0.9);
/** The odds against chance are then 100 to 1. */
const SILENCED_AT = Math.log(100);

/** Why what the events said of a request was wrong. */
export type Wrong = "too-much" | "too-little" | "silent";

/**
 * Whether a replica's events are believed. Each promise that a response confirms or refutes counts (CUSUM): beyond what chance explains,
 * the replica loses its voice; it gets it back when as many promises have been right as it takes to come back to nothing.
 */
export class Voice {
  isLost = false;
  right = 0;
  readonly wrong: Record<Wrong, number> = { "too-much": 0, "too-little": 0, silent: 0 };
  /** Promises that were too high because the blocks were evicted behind them: they count neither for the replica nor against it. */
  evicted = 0;
  losses = 0;
  lastWrong: Wrong | undefined;
  #score = 0;

  /** `wrong` is undefined for a promise that was right. Returns whether the voice was lost or found by that. */
  judged(wrong: Wrong | undefined): boolean {
    if (wrong === undefined) this.right += 1;
    else {
      this.wrong[wrong] += 1;
      this.lastWrong = wrong;
    }
    this.#score = Math.min(SILENCED_AT, Math.max(0, this.#score + (wrong === undefined ? RIGHT : WRONG)));
    const before = this.isLost;
    if (this.#score >= SILENCED_AT) this.isLost = true;
    else if (this.#score === 0) this.isLost = false;
    if (this.isLost && !before) this.losses += 1;
    return this.isLost !== before;
  }

  /** Another process: it has said nothing yet. */
  forget(): void {
    this.#score = 0;
    this.isLost = false;
  }
}
