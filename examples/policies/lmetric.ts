import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { uncachedTokens } from "../../plugins/scorers/uncached-tokens.ts";
import { cheapestFirst } from "./cheapest-first.ts";

/**
 * LMetric (arXiv 2603.15202): the lowest product of prompt work and batch size wins; there is nothing to tune.
 * cost = (prompt tokens waiting there + this prompt's tokens not cached there) x (requests there + 1).
 *
 * The paper asks the engines for both numbers. Here they are the router's own: prompt tokens sent and not yet answered by a
 * first byte, and requests in flight.
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
