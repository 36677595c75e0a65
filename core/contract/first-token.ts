import type { Endpoint } from "./endpoint.ts";
import type { LoadView } from "./load-view.ts";
import type { InferenceRequest } from "./request.ts";

/** Milliseconds that each request in flight adds, because each generation makes the engine's steps a little slower. */
export const DECODE_MS = 8;

/** Prompt tokens that the endpoint in this slot would have to process, because its cache does not hold them. */
export function uncachedTokens({ prefix, promptTokens }: InferenceRequest, slot: number): number {
  return Math.max(0, promptTokens - prefix.matchedTokens(slot));
}

/**
 * The expected time to the request's first token at the endpoint, in milliseconds, after `tokens` of prompts (those that wait there,
 * and its own that are not cached):
 * tokens / measured speed + decodeMs x requests in flight + what loading the adapter takes, where it is not loaded
 */
export function firstTokenMs(
  tokens: number,
  request: InferenceRequest,
  endpoint: Endpoint,
  load: LoadView,
  decodeMs = DECODE_MS,
): number {
  const { slot } = endpoint;
  return tokens / load.prefillRate(slot) + decodeMs * load.inFlight(slot) + adapterWaitMs(request, endpoint, load);
}

/** How long the request waits at the endpoint until its replica has loaded the target, in milliseconds; 0 where it has it. */
function adapterWaitMs({ target, onDemand }: InferenceRequest, { slot, models }: Endpoint, load: LoadView): number {
  if (onDemand === "never" || models.has(target)) return 0;
  return load.unlisted(slot, target)?.leftMs ?? load.adapterLoadMs;
}
