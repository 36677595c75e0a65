import type { LoadView } from "./load-view.ts";
import type { InferenceRequest } from "./request.ts";

/** Prompt tokens that the endpoint in this slot would have to process, because its cache does not hold them. */
export function uncachedTokens({ prefix, promptTokens }: InferenceRequest, slot: number): number {
  return Math.max(0, promptTokens - prefix.matchedTokens(slot));
}

/**
 * Expected milliseconds until the endpoint in this slot has processed the prompts sent before and then `tokens` prompt tokens,
 * at its measured speed: the time to the first token of a request with so many uncached tokens.
 */
export function firstTokenMs(load: LoadView, slot: number, tokens: number): number {
  return (load.remainingPrefill(slot) + tokens) / load.prefillRate(slot);
}
