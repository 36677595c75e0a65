import { MAX_SLOTS } from "./load.ts";

/** What is believed at first, that replicas hold what they were sent, weighs as much as so many tokens. */
const PRIOR_TOKENS = 20_000;
/** After so many predicted tokens an older report counts half. */
const HALF_LIFE_TOKENS = 200_000;
/** A replica that reports too little must not end all affinity: where a prompt was sent is still the best guess. */
const MIN_TRUST = 0.1;
/** Reports are above predictions by what blocks leave over at a prompt's end. */
const MAX_TRUST = 1.25;

/**
 * How much of what each slot is believed to hold it turns out to hold, learnt from what its replica reports. Other routers,
 * generated text and half-full pages take room that nobody here sees. Forgetting earlier would be the other way to be right, but
 * a prompt that may be cached is better sent there than anywhere else: so the belief stays, and counts for less.
 */
export class HitTrust {
  readonly #predicted = new Float64Array(MAX_SLOTS).fill(PRIOR_TOKENS);
  readonly #reported = new Float64Array(MAX_SLOTS).fill(PRIOR_TOKENS);

  of(slot: number): number {
    return Math.min(MAX_TRUST, Math.max(MIN_TRUST, this.#reported[slot]! / this.#predicted[slot]!));
  }

  /** So many tokens of a prompt were believed cached, and so many were. */
  learn(slot: number, predictedTokens: number, reportedTokens: number): void {
    if (!(predictedTokens > 0) || Number.isNaN(reportedTokens)) return;
    const keep = 0.5 ** (predictedTokens / HALF_LIFE_TOKENS);
    this.#predicted[slot] = this.#predicted[slot]! * keep + predictedTokens;
    this.#reported[slot] = this.#reported[slot]! * keep + reportedTokens;
  }

  /** The slot has a new replica. */
  forget(slot: number): void {
    this.#predicted[slot] = PRIOR_TOKENS;
    this.#reported[slot] = PRIOR_TOKENS;
  }
}
