import type { Endpoint } from "../../core/contract/endpoint.ts";
import { firstTokenMs, uncachedTokens } from "../../core/contract/expected-wait.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

const options = z.strictObject({
  /** Milliseconds added for each request in flight, because each generation makes the engine's steps a little slower. */
  decodeMs: z.number().min(0).max(1_000_000).default(8),
  /**
   * Largest weight of the prompt's uncached tokens. Work saved by a cached prefix also shortens the wait of later requests, so it
   * counts more, the more of them there are. With 1, only this prompt's own wait counts.
   */
  crowdedWeight: z.number().min(1).max(1_000).default(50),
  /** Extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: z.number().positive().max(1_000_000_000).default(256),
});

/** Where more is sent than endpoints can process, the queue has no mean length: they count as this busy. */
const MOST_BUSY = 0.95;

/**
 * Prefers the shortest time to the first token, estimated from what the router itself knows:
 * wait = (remaining prefill tokens + weight x uncached tokens of this prompt) / measured speed + decodeMs x requests in flight
 *        + what loading the adapter takes, where it is not loaded
 * weight = min(crowdedWeight, 1 + arrival rate x (shortest wait for other prompts + this prompt's work) / (1 - busy share))
 * score = scaleMs / (scaleMs + wait - shortest wait)
 * Waits are in milliseconds; the best candidate scores 1. The weight is what a millisecond of work costs all requests together:
 * whoever arrives in the rest of the busy period waits that much longer. In an M/G/1 queue that period is the work at hand
 * divided by 1 - busy share (Kleinrock, Queueing Systems 1, section 5.8). Arrival rate and busy share are the candidates' means.
 */
export default defineScorer({
  type: "outstanding-work",
  summary: "Prefers the endpoint that would respond first: least prompt work outstanding, cached prefixes deducted.",
  options,
  create({ decodeMs, crowdedWeight, scaleMs }, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        const { delayedPerMs, shortestMs } = crowdOf(candidates, load);
        const waitsMs: number[] = [];
        let shortest = Number.POSITIVE_INFINITY;
        for (const endpoint of candidates) {
          const { slot } = endpoint;
          const tokens = uncachedTokens(request, slot);
          const workMs = tokens / load.prefillRate(slot);
          const weight = Math.min(crowdedWeight, 1 + delayedPerMs * (shortestMs + workMs));
          const prefillMs = firstTokenMs(load, slot, weight * tokens);
          const queueMs = prefillMs + decodeMs * load.inFlight(slot);
          const waitMs = queueMs + adapterWaitMs(request, endpoint, load);
          waitsMs.push(waitMs);
          if (waitMs < shortest) shortest = waitMs;
        }
        // The parentheses matter: in another order, rounding could make the best score larger than 1.
        return waitsMs.map((waitMs) => scaleMs / (scaleMs + (waitMs - shortest)));
      },
    };
  },
});

/** How long the request waits at the endpoint until its replica has loaded the target, in milliseconds; 0 where it has it. */
function adapterWaitMs({ target, onDemand }: InferenceRequest, { slot, models }: Endpoint, load: LoadView): number {
  if (onDemand === "never" || models.has(target)) return 0;
  return load.unlisted(slot, target)?.leftMs ?? load.adapterLoadMs;
}

interface Crowd {
  /** Requests that a millisecond of a busy period delays. */
  readonly delayedPerMs: number;
  /** The shortest time that prompts sent before take at any candidate. With the mean, one long queue would count as a crowded pool. */
  readonly shortestMs: number;
}

function crowdOf(candidates: readonly Endpoint[], load: LoadView): Crowd {
  let arrivals = 0;
  let busy = 0;
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const { slot } of candidates) {
    arrivals += load.arrivalRate(slot);
    busy += load.offeredShare(slot);
    shortestMs = Math.min(shortestMs, firstTokenMs(load, slot, 0));
  }
  const count = Math.max(1, candidates.length);
  return { delayedPerMs: arrivals / count / (1 - Math.min(MOST_BUSY, busy / count)), shortestMs };
}
