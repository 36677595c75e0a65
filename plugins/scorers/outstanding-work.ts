import type { Endpoint } from "../../core/contract/endpoint.ts";
import { DECODE_MS, firstTokenMs, SCALE_MS, uncachedTokens } from "../../core/contract/expected-wait.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Milliseconds added for each request in flight, because each generation makes the engine's steps a little slower. */
  decodeMs: z.number().min(0).max(1_000_000).default(DECODE_MS),
  /**
   * Largest weight of the prompt's uncached tokens. While prompts wait at every endpoint, work saved by a cached prefix also
   * shortens the wait of later requests, so it counts more. With 1, only this prompt's own wait counts.
   */
  crowdedWeight: z.number().min(1).max(1_000).default(12),
  /** Extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: z.number().positive().max(1_000_000_000).default(SCALE_MS),
});

/** Added to the weight for each prompt in the shortest queue. */
const WEIGHT_PER_PROMPT = 2;

/**
 * Prefers the shortest time to the first token, estimated from what the router itself knows:
 * wait = (remaining prefill tokens + weight x uncached tokens of this prompt) / measured speed + decodeMs x requests in flight
 *        + what loading the adapter takes, where it is not loaded
 * weight = min(crowdedWeight, 1 + 2 x shortest queue), where a queue is the number of prompts that wait at a candidate
 * score = scaleMs / (scaleMs + wait - shortest wait)
 * Waits are in milliseconds; the best candidate scores 1.
 */
export default defineScorer({
  type: "outstanding-work",
  summary: "Prefers the endpoint that would respond first: least prompt work outstanding, cached prefixes deducted.",
  options,
  create({ decodeMs, crowdedWeight, scaleMs }, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        const weight = Math.min(crowdedWeight, 1 + WEIGHT_PER_PROMPT * shortestQueue(candidates, load));
        // The list of waits becomes the list of scores; it has its length at once, because a list that grows is copied.
        const scores = new Array<number>(candidates.length);
        let shortest = Number.POSITIVE_INFINITY;
        for (let index = 0; index < candidates.length; index++) {
          const endpoint = candidates[index]!;
          const waitMs = firstTokenMs(request, endpoint, load, weight * uncachedTokens(request, endpoint.slot), decodeMs);
          scores[index] = waitMs;
          if (waitMs < shortest) shortest = waitMs;
        }
        // The parentheses matter: in another order, rounding could make the best score larger than 1.
        for (let index = 0; index < scores.length; index++) scores[index] = scaleMs / (scaleMs + (scores[index]! - shortest));
        return scores;
      },
    };
  },
});

/** The fewest prompts that wait at any candidate. With the sum or the mean, one long queue would count as a crowded pool. */
function shortestQueue(candidates: readonly Endpoint[], load: LoadView): number {
  let fewest = Number.POSITIVE_INFINITY;
  for (const { slot } of candidates) fewest = Math.min(fewest, load.waitingPrompts(slot));
  return fewest;
}
