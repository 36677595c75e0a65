import type { Prompt } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

/** A modelled engine's exact state, now. */
export class Engine {
  readonly #upstream: Upstream;
  readonly #tokensPerMs: number;

  /** `tokensPerMs`: prompt tokens that it computes in a millisecond while nothing is wrong with it. */
  constructor(upstream: Upstream, tokensPerMs: number) {
    this.#upstream = upstream;
    this.#tokensPerMs = tokensPerMs;
  }

  get tokensPerMs(): number {
    return this.#tokensPerMs * this.#upstream.pace;
  }

  /** Tokens of this prompt that need not be computed here. */
  cachedTokens(prompt: Prompt): number {
    return this.#upstream.replica.cachedTokens(prompt);
  }

  /** Prompt tokens still to be computed. */
  get prefillLeft(): number {
    return this.#upstream.replica.prefillLeft;
  }

  /** Uncached tokens of all prompts that have no output yet, computed or not. */
  get prefillTokens(): number {
    const { prefilling, waiting } = this.#upstream.replica;
    let tokens = 0;
    for (const { request, cachedTokens } of prefilling) tokens += request.prompt.tokens - cachedTokens;
    for (const { request, cachedTokens } of waiting) tokens += request.prompt.tokens - cachedTokens;
    return tokens;
  }

  /** Requests without output yet. */
  get unanswered(): number {
    const { prefilling, waiting } = this.#upstream.replica;
    return prefilling.length + waiting.length;
  }

  /** Requests of which no token has been computed. */
  get untouched(): number {
    return this.#upstream.replica.untouched;
  }

  get running(): number {
    return this.requests - this.untouched;
  }

  get requests(): number {
    return this.#upstream.replica.size;
  }

  /** Share of the KV cache that requests use, in [0, 1]. */
  get kvUsage(): number {
    return this.#upstream.replica.cache.usage;
  }
}
