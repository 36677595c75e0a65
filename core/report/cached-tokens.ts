import type { RequestRecord } from "../contract/outcome.ts";

/**
 * Tokens of the prompt that were cached, as reported; undefined if nobody reports them. Of a pair, the prompt's endpoint says it: some engines
 * report what was transferred as not cached.
 */
export function cachedTokensOf({ usage, prefill }: Pick<RequestRecord, "usage" | "prefill">): number | undefined {
  if (prefill?.end === "transferred" && !Number.isNaN(prefill.cachedTokens)) return prefill.cachedTokens;
  return usage?.cachedTokens;
}
