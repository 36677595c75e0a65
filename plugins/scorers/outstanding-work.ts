import { z } from "../../core/options.ts";
import { defineScorer } from "../../core/plugin.ts";
import { uncachedTokens } from "./uncached-tokens.ts";

const options = z.strictObject({
  /** Prompt tokens that one request in flight weighs: a generation slows the engine's next step a little. */
  decodeWeight: z.number().min(0).max(1_000_000).default(64),
  /** Extra tokens, beyond the best candidate's, that halve the score. */
  scaleTokens: z.number().positive().max(1_000_000_000).default(2048),
});

/**
 * Least outstanding work, all of it known to the router itself:
 * cost = prompt tokens sent and not yet answered + this prompt's tokens not cached there + decodeWeight x requests in flight;
 * score = scale / (scale + cost - lowest cost). The cheapest candidate scores 1.
 */
export default defineScorer({
  type: "outstanding-work",
  summary: "Prefers the endpoint that would answer first: least prompt work outstanding, cached prefixes deducted.",
  options,
  create({ decodeWeight, scaleTokens }, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        const costs: number[] = [];
        let lowest = Number.POSITIVE_INFINITY;
        for (const { slot } of candidates) {
          const cost = load.prefillTokens[slot]! + uncachedTokens(request, slot) + decodeWeight * load.inFlight[slot]!;
          costs.push(cost);
          if (cost < lowest) lowest = cost;
        }
        for (let index = 0; index < costs.length; index++) costs[index] = scaleTokens / (scaleTokens + costs[index]! - lowest);
        return costs;
      },
    };
  },
});
