import { defineScorer, uncachedTokens, z } from "signalbox/plugin";
import { cheapestFirst } from "./cheapest-first.ts";

/**
 * The scheduling of Mooncake's Conductor (FAST'25, algorithm 1), as far as a router can do it: the earliest first token wins.
 * Time to first token = time in the queue + time for the part of the prompt that is not cached there. Both are measured in prompt
 * tokens here, as if all replicas were equally fast.
 *
 * Mooncake also considers copying cached blocks from another replica, which needs engines that share a cache, and refuses
 * requests whose first token would come too late.
 */
export default defineScorer({
  type: "mooncake",
  summary: "Prefers the endpoint whose prompt work outstanding, with this prompt's uncached part, is least.",
  options: z.strictObject({}),
  create(_options, host) {
    host.usePrefixIndex({});
    return {
      score(request, candidates, load) {
        return cheapestFirst(candidates.map(({ slot }) => load.prefillTokens(slot) + uncachedTokens(request, slot)));
      },
    };
  },
});
