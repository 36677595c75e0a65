import { MAX_SLOTS } from "./load.ts";

/** The initial trust of 1 weighs as much as this many predicted tokens. */
const PRIOR_TOKENS = 20_000;
/** After this many predicted tokens an older report counts half. */
const HALF_LIFE_TOKENS = 200_000;
/** Low reports must not end all affinity: the endpoint that a prompt was sent to is still the best guess. */
const MIN_TRUST = 0.1;
/** Above 1, because predictions count whole blocks only and reports also count the rest of a prompt. */
const MAX_TRUST = 1.25;

/**
 * trust = reported cached tokens / predicted cached tokens, for each slot, learnt from what its replica reports. Predictions are
 * too high when other routers, generated text or half-full cache blocks take room that this router does not see. The index could
 * forget prompts earlier instead, but an endpoint that may hold a prompt is still better than one that does not: so entries stay
 * and count less.
 */
export class HitTrust {
  readonly #predicted = new Float64Array(MAX_SLOTS).fill(PRIOR_TOKENS);
  readonly #reported = new Float64Array(MAX_SLOTS).fill(PRIOR_TOKENS);

  of(slot: number): number {
    return Math.min(MAX_TRUST, Math.max(MIN_TRUST, this.#reported[slot]! / this.#predicted[slot]!));
  }

  /** Learns from one prompt. Ignores a prediction of 0. */
  learn(slot: number, predictedTokens: number, reportedTokens: number): void {
    if (!(predictedTokens > 0)) return;
    const keep = 0.5 ** (predictedTokens / HALF_LIFE_TOKENS);
    this.#predicted[slot] = this.#predicted[slot]! * keep + predictedTokens;
    this.#reported[slot] = this.#reported[slot]! * keep + reportedTokens;
  }

  /** The replica restarted, or another one has the slot. */
  forget(slot: number): void {
    this.#predicted[slot] = PRIOR_TOKENS;
    this.#reported[slot] = PRIOR_TOKENS;
  }
}
