import { z } from "../../core/options.ts";
import { defineScorer } from "../../core/plugin.ts";
import { uncachedTokens } from "./uncached-tokens.ts";

const options = z.strictObject({
  /** Milliseconds that one request in flight weighs: a generation slows the engine's next step a little. */
  decodeMs: z.number().min(0).max(1_000_000).default(8),
  /** Extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: z.number().positive().max(1_000_000_000).default(256),
});

/**
 * Least time to the first token, from what the router itself knows:
 * wait = (prompt tokens sent and not yet worked off + this prompt's tokens not cached there) / measured speed
 *        + decodeMs x requests in flight;
 * score = scale / (scale + (wait - shortest wait)). The best candidate scores 1.
 */
export default defineScorer({
  type: "outstanding-work",
  summary: "Prefers the endpoint that would answer first: least prompt work outstanding, cached prefixes deducted.",
  options,
  create({ decodeMs, scaleMs }, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        const scores = new Float64Array(candidates.length);
        let shortest = Number.POSITIVE_INFINITY;
        for (let i = 0; i < scores.length; i++) {
          const { slot } = candidates[i]!;
          const tokens = load.remainingPrefill(slot) + uncachedTokens(request, slot);
          const waitMs = tokens / load.prefillRate(slot) + decodeMs * load.inFlight[slot]!;
          scores[i] = waitMs;
          if (waitMs < shortest) shortest = waitMs;
        }
        // The difference first: the other way round, rounding could lift the best score above 1.
        for (let i = 0; i < scores.length; i++) scores[i] = scaleMs / (scaleMs + (scores[i]! - shortest));
        return scores;
      },
    };
  },
});
