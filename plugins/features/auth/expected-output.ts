import type { ParsedBody } from "../../../core/contract/request.ts";

/** Of an API of which nothing is known yet. */
const FIRST_GUESS = 256;
/** What the last response counts in the mean. */
const WEIGHT = 0.1;
/** So many principals have means of their own; further ones share those of all. */
const MOST_PRINCIPALS = 10_000;

/** How many tokens each choice of an API's requests takes, on average: of each principal, and of all together. */
export class ExpectedOutput {
  readonly #all = new Map<string, number>();
  readonly #own = new Map<string, Map<string, number>>();

  /**
   * For each of the choices the client's limit, else what the principal's requests usually take. Where there is no prompt to compute,
   * nothing is generated.
   */
  of(name: string, api: string, { maxOutputTokens, choices = 1, promptSpans }: ParsedBody): number {
    if (promptSpans.length === 0) return 0;
    const each = maxOutputTokens > 0 ? maxOutputTokens : (this.#own.get(name)?.get(api) ?? this.#all.get(api) ?? FIRST_GUESS);
    // Sums of larger numbers are not exact, and what is given back must be what was set aside.
    return Math.min(Number.MAX_SAFE_INTEGER, Math.round(each * choices));
  }

  learn(name: string, api: string, tokens: number): void {
    learn(this.#all, api, tokens);
    let own = this.#own.get(name);
    if (own === undefined) {
      if (this.#own.size >= MOST_PRINCIPALS) this.#own.delete(this.#own.keys().next().value!);
      own = new Map();
      this.#own.set(name, own);
    }
    learn(own, api, tokens);
  }
}

function learn(means: Map<string, number>, api: string, tokens: number): void {
  const before = means.get(api) ?? tokens;
  means.set(api, before + WEIGHT * (tokens - before));
}
