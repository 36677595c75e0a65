import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

/** Settings of the router's prefix index; what is left out has the index's default. */
const options = z.strictObject({
  blockBytes: z.int().min(16).max(65_536).exactOptional(),
  /** Whether generated text counts as cached too, if responses report its length. */
  countGenerated: z.boolean().exactOptional(),
  maxBytes: z.int().min(65_536).max(Number.MAX_SAFE_INTEGER).exactOptional(),
});

/** score = bytes of the prompt's blocks that are believed cached there / bytes of all its blocks; no opinion without a block. */
export default defineScorer({
  type: "prefix-cache",
  summary: "Prefers the endpoint that holds the longest part of the prompt in its cache.",
  options,
  create(settings, host) {
    host.usePrefixIndex(settings);
    return {
      score({ prefix }, candidates) {
        if (prefix.blocks === 0) return null;
        return candidates.map(({ slot }) => prefix.matchedFraction(slot));
      },
    };
  },
});
