import type { InferenceRequest } from "../../core/contract/request.ts";

/** Prompt tokens that the endpoint in this slot would have to process, because its cache does not hold them. */
export function uncachedTokens({ prefix, promptTokens }: InferenceRequest, slot: number): number {
  return Math.max(0, promptTokens - prefix.matchedTokens(slot));
}
