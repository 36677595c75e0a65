import { defineScorer, uncachedTokens, z } from "signalbox/plugin";
import { cheapestFirst } from "./cheapest-first.ts";

/**
 * LMetric (arXiv 2603.15202): the lowest product of prompt work and batch size wins. It has no parameters.
 * cost = (prompt tokens waiting there + this prompt's tokens not cached there) x (requests there + 1).
 *
 * In the paper the engines report both numbers. Here the router counts them: prefill tokens outstanding, and requests in flight.
 */
export default defineScorer({
  type: "lmetric",
  summary: "Prefers the lowest product of uncached prompt tokens outstanding and requests in flight.",
  options: z.strictObject({}),
  create(_options, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        const costs = candidates.map(({ slot }) => {
          const tokens = load.prefillTokens(slot) + uncachedTokens(request, slot);
          return tokens * (load.inFlight(slot) + 1);
        });
        return cheapestFirst(costs);
      },
    };
  },
});
