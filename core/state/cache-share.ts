import { MAX_SLOTS } from "./load.ts";

/** Shorter predictions are within what blocks and templates leave uncertain. */
const MIN_TOKENS = 256;
/** A prediction fails when less than this much of it comes true. */
const TOLERANCE = 0.75;
/** At rest about one prediction in ten fails: that is where one step down weighs as much as the steps up between. */
const STEP_DOWN = 0.98;
const STEP_UP = 0.98 ** (-1 / 9);
/** However often predictions fail, a replica that counts wrongly must not end all affinity. */
const MIN_SHARE = 0.125;

/**
 * How much of each slot's cache serves the prompts that this router sends: other routers, generated text and pages half full
 * take the rest, and the size itself may be a guess. Learnt from predictions that fail because the replica forgot earlier.
 */
export class CacheShares {
  readonly #shares = new Float64Array(MAX_SLOTS).fill(1);

  of(slot: number): number {
    return this.#shares[slot]!;
  }

  /** A prompt was believed cached there up to `predicted` tokens, and the replica found `reported`; true if the share changed. */
  learn(slot: number, predicted: number, reported: number): boolean {
    if (!(predicted >= MIN_TOKENS) || Number.isNaN(reported)) return false;
    const before = this.#shares[slot]!;
    const step = reported < TOLERANCE * predicted ? STEP_DOWN : STEP_UP;
    this.#shares[slot] = Math.min(1, Math.max(MIN_SHARE, before * step));
    return this.#shares[slot] !== before;
  }

  /** The slot has a new replica. */
  forget(slot: number): void {
    this.#shares[slot] = 1;
  }
}
