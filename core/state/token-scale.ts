import type { Usage } from "../contract/outcome.ts";
import type { CountedPart } from "../contract/prompt-part.ts";
import { PartScale } from "./part-scale.ts";

/** Ratios outside these bounds come from prompts that are not text (a part that was not recognised), so they are ignored. */
const MIN_FACTOR = 0.125;
const MAX_FACTOR = 8;
/** The initial factor of 1 weighs as much as this many reported tokens. */
const PRIOR_TOKENS = 1_000;
/** After this many tokens an older report counts half. */
const HALF_LIFE_TOKENS = 1_000_000;
/** Shorter prompts consist mostly of the chat template, so they are ignored. */
const MIN_TOKENS = 16;

/** What is known of a prompt whose length a replica reports. */
interface ReportedPrompt {
  readonly api: string;
  readonly target: string;
  /** The estimate of its text, before correction. */
  readonly parsedTokens: number;
  readonly promptParts: readonly CountedPart[];
}

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
  readonly parts = new PartScale();
  readonly #sums = new Map<string, Sums>();

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

  /** Learns from one prompt how long its text is, and its parts; without a count of the parts alone, one of the two. */
  reported(prompt: ReportedPrompt, { promptTokens, partTokens }: Pick<Usage, "promptTokens" | "partTokens">): void {
    const { api, target, parsedTokens, promptParts } = prompt;
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
