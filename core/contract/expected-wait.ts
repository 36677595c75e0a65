import type { Endpoint } from "./endpoint.ts";
import type { AdapterUse, LoadView } from "./load-view.ts";
import type { InferenceRequest } from "./request.ts";

/** Milliseconds that each request in flight adds, because each generation makes the engine's steps a little slower. */
export const DECODE_MS = 8;

/** Extra milliseconds, beyond the best candidate's, that halve the score of outstanding-work. */
export const SCALE_MS = 256;

/** Prompt tokens that the endpoint in this slot would have to process, because its cache does not hold them. */
export function uncachedTokens({ prefix, promptTokens }: InferenceRequest, slot: number): number {
  return Math.max(0, promptTokens - prefix.matchedTokens(slot));
}

/**
 * Expected milliseconds to the first token at the endpoint, if `tokens` of the request's prompt have to be processed:
 * (remaining prefill tokens + tokens) / measured speed + decodeMs x requests in flight + what loading the adapter takes, where its engine
 * is not believed to hold it, or no other one fits beside those in use. By default `tokens` are those that its cache is believed not to hold.
 *
 * @example
 * score: (request, candidates, load) =>
 *   candidates.map((endpoint) => 1 / (1 + firstTokenMs(request, endpoint, load)))
 */
export function firstTokenMs(
  request: InferenceRequest,
  endpoint: Endpoint,
  load: LoadView,
  tokens = uncachedTokens(request, endpoint.slot),
  decodeMs = DECODE_MS,
): number {
  return firstTokenAfterMs(request, endpoint, load, load.remainingPrefill(endpoint.slot) + tokens, decodeMs);
}

/** The same, for a caller that has read the endpoint's remaining prefill tokens: `tokens` are those and the request's. */
export function firstTokenAfterMs(
  request: InferenceRequest,
  endpoint: Endpoint,
  load: LoadView,
  tokens: number,
  decodeMs = DECODE_MS,
): number {
  const { slot } = endpoint;
  return tokens / load.prefillRate(slot) + decodeMs * load.inFlight(slot) + adapterWaitMs(request, endpoint, load);
}

/** What can be said of it: NaN for a request without a known prompt, and before any prompt's speed was measured. */
export function expectedFirstTokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
  if (request.promptTokens === 0 || !load.isRateKnown(endpoint.slot)) return Number.NaN;
  return firstTokenMs(request, endpoint, load);
}

/** How long the request waits at the endpoint until its replica computes with the target, in milliseconds; 0 where it does. */
function adapterWaitMs({ target, onDemand }: InferenceRequest, { slot, models }: Endpoint, load: LoadView): number {
  if (models.has(target)) {
    const adapters = load.adapters(slot);
    if (adapters?.names?.has(target) !== true) return 0;
    const chance = displacing(target, adapters.use);
    const inUseMs = chance === 0 ? 0 : chance * load.freshness(slot) * load.adapterLoadMs;
    return Math.max(inUseMs, load.adapterMs(slot, target));
  }
  if (onDemand === "never") return 0;
  return (load.unlisted(slot, target)?.leftMs ?? load.adapterLoadMs) + load.adapterMs(slot, target);
}

/**
 * How likely the target, which is loaded, takes another adapter's place: it waits until that one has no request left. vLLM calls all in use
 * running, so if those are more than fit, some of them wait, too.
 */
function displacing(target: string, use: AdapterUse | undefined): number {
  if (use === undefined || use.max === 0) return 0;
  const { running, waiting, max } = use;
  let used = running.size;
  for (const name of waiting) if (!running.has(name)) used += 1;
  if (running.has(target) || waiting.has(target)) return Math.max(0, 1 - max / used);
  return used < max ? 0 : 1;
}
