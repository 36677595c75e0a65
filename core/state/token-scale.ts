/** Ratios beyond these bounds come from prompts that are not text (an image, a file) and tell nothing of text. */
const MIN_FACTOR = 0.125;
const MAX_FACTOR = 8;
/** What is believed at first, that estimates are right, weighs as much as so many tokens. */
const PRIOR_TOKENS = 1_000;
/** After so many tokens an older report counts half. */
const HALF_LIFE_TOKENS = 1_000_000;
/** Prompts this short are mostly template. */
const MIN_TOKENS = 16;

interface Sums {
  estimated: number;
  reported: number;
}

/**
 * How many tokens a prompt has for each one estimated from its bytes, learnt per API from what replicas report: the estimate
 * knows neither the tokenizer nor the script, and what each cache holds is counted in tokens.
 */
export class TokenScale {
  readonly #sums = new Map<string, Sums>();

  /** The estimate as experience corrects it. */
  scaled(api: string, estimatedTokens: number): number {
    return Math.round(estimatedTokens * this.factor(api));
  }

  factor(api: string): number {
    const sums = this.#sums.get(api);
    return sums === undefined ? 1 : sums.reported / sums.estimated;
  }

  /** A prompt that was estimated at the one, unscaled, had the other. */
  learn(api: string, estimatedTokens: number, reportedTokens: number): void {
    const ratio = reportedTokens / estimatedTokens;
    if (!(estimatedTokens >= MIN_TOKENS && ratio >= MIN_FACTOR && ratio <= MAX_FACTOR)) return;
    const sums = this.#sums.get(api) ?? { estimated: PRIOR_TOKENS, reported: PRIOR_TOKENS };
    const keep = 0.5 ** (estimatedTokens / HALF_LIFE_TOKENS);
    sums.estimated = sums.estimated * keep + estimatedTokens;
    sums.reported = sums.reported * keep + reportedTokens;
    this.#sums.set(api, sums);
  }
}
