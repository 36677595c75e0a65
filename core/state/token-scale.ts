import type { Usage } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { PartScale, type PartTokens } from "./part-scale.ts";

/** Ratios outside these bounds come from prompts that are not text (a part that was not recognised), so they are ignored. */
const MIN_FACTOR = 0.125;
const MAX_FACTOR = 8;
/** The initial factor of 1 weighs as much as this many reported tokens. */
const PRIOR_TOKENS = 1_000;
/** After this many tokens an older report counts half. */
const HALF_LIFE_TOKENS = 1_000_000;
/** Shorter prompts consist mostly of the chat template, so they are ignored. */
const MIN_TOKENS = 16;

interface Sums {
  estimated: number;
  reported: number;
}

/**
 * factor = reported tokens / estimated tokens, for each API, learnt from what replicas report. The estimate counts bytes and
 * knows neither the tokenizer nor the script of the text; caches are counted in tokens.
 */
export class TokenScale {
  /** Tokens of the parts that are not text. */
  readonly parts: PartScale;
  readonly #sums = new Map<string, Sums>();

  /** `factors` and `partTokens`: what another process has learnt. */
  constructor(factors: Readonly<Record<string, number>> = {}, partTokens: PartTokens = {}) {
    this.parts = new PartScale(partTokens);
    for (const [api, factor] of Object.entries(factors)) this.#sums.set(api, { estimated: 1, reported: factor });
  }

  /** The estimate, corrected by the API's factor. */
  scaled(api: string, estimatedTokens: number): number {
    return Math.round(estimatedTokens * this.factor(api));
  }

  factor(api: string): number {
    const sums = this.#sums.get(api);
    return sums === undefined ? 1 : sums.reported / sums.estimated;
  }

  /** The factors of all APIs that were learnt. */
  factors(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#sums.keys()].map((api) => [api, this.factor(api)]));
  }

  /** Learns from one prompt how long its text and its parts are. Without a separate count of the parts it learns only one of the two. */
  reported({ api, target, parsedTokens, promptParts }: InferenceRequest, { promptTokens, partTokens }: Usage): void {
    if (promptParts.length > 0 && partTokens === undefined) {
      this.parts.learnBeside(target, promptParts, this.scaled(api, parsedTokens), promptTokens);
      return;
    }
    this.learn(api, parsedTokens, promptTokens - (partTokens ?? 0));
    if (partTokens !== undefined) this.parts.learn(target, promptParts, partTokens);
  }

  /** Learns from one prompt of text; `estimatedTokens` is the estimate before correction. */
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
