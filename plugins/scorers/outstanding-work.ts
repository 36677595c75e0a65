import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { uncachedTokens } from "./uncached-tokens.ts";

const options = z.strictObject({
  /** Milliseconds that one request in flight weighs: a generation slows the engine's next step a little. */
  decodeMs: z.number().min(0).max(1_000_000).default(8),
  /**
   * How much a prompt's own uncached tokens may weigh, at most, while prompts wait everywhere: work that a cached prefix saves is
   * saved for all who come later. 1 minds this prompt's own wait only.
   */
  crowdedWeight: z.number().min(1).max(1_000).default(12),
  /** Extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: z.number().positive().max(1_000_000_000).default(256),
});

/** How much heavier each prompt that waits everywhere makes the uncached tokens. */
const WEIGHT_PER_PROMPT = 2;

/**
 * Least time to the first token, from what the router itself knows:
 * wait = (prompt tokens sent and not yet worked off + weight x this prompt's tokens not cached there) / measured speed
 *        + decodeMs x requests in flight;
 * weight = 1 + 2 x prompts that wait even where the fewest do, up to crowdedWeight: about so many will wait behind this one;
 * score = scale / (scale + (wait - shortest wait)). The best candidate scores 1.
 */
export default defineScorer({
  type: "outstanding-work",
  summary: "Prefers the endpoint that would answer first: least prompt work outstanding, cached prefixes deducted.",
  options,
  create({ decodeMs, crowdedWeight, scaleMs }, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        const weight = Math.min(crowdedWeight, 1 + WEIGHT_PER_PROMPT * fewestWaiting(candidates, load));
        const waitsMs: number[] = [];
        let shortest = Number.POSITIVE_INFINITY;
        for (const { slot } of candidates) {
          const tokens = load.remainingPrefill(slot) + weight * uncachedTokens(request, slot);
          const waitMs = tokens / load.prefillRate(slot) + decodeMs * load.inFlight(slot);
          waitsMs.push(waitMs);
          if (waitMs < shortest) shortest = waitMs;
        }
        // The difference first: the other way round, rounding could lift the best score above 1.
        return waitsMs.map((waitMs) => scaleMs / (scaleMs + (waitMs - shortest)));
      },
    };
  },
});

/** Prompts that wait at the candidate where the fewest do. Taken over all, one crowded endpoint would seem a crowded pool. */
function fewestWaiting(candidates: readonly Endpoint[], load: LoadView): number {
  let fewest = Number.POSITIVE_INFINITY;
  for (const { slot } of candidates) fewest = Math.min(fewest, load.waitingPrompts(slot));
  return fewest;
}
