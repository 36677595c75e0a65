import { uncachedTokens } from "../../core/contract/expected-wait.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** An endpoint with at least this many tokens scores 0. */
  queueThresholdTokens: z.int().min(1).max(1_000_000_000_000).default(4_194_304),
});

/** score = 1 - min(t, threshold) / threshold; t = prefill tokens outstanding there + this prompt's tokens not cached there. */
export default defineScorer({
  type: "token-load",
  summary: "Prefers the endpoint with the fewest prompt tokens to process, on a fixed scale.",
  options,
  create({ queueThresholdTokens }, host) {
    host.usePrefixIndex({});
    return {
      score: (request, candidates, load) =>
        candidates.map(({ slot }) => {
          const tokens = load.prefillTokens(slot) + uncachedTokens(request, slot);
          return 1 - Math.min(tokens, queueThresholdTokens) / queueThresholdTokens;
        }),
    };
  },
});
