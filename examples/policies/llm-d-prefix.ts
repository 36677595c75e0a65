import { defineScorer, z } from "signalbox/plugin";
import { OwnIndex } from "./own-index.ts";

/** Defaults of llm-d's approx-prefix-cache-producer. */
const options = z.strictObject({
  /** Blocks remembered for each endpoint. */
  lruCapacityPerServer: z.int().min(1).max(1_000_000_000).default(31_250),
  blockSizeTokens: z.int().min(1).max(65_536).default(64),
  /** The rest of a longer prompt is not looked at. */
  maxPrefixTokensToMatch: z.int().min(1).max(16_777_216).default(131_072),
});

/**
 * llm-d's prefix-cache-scorer on its approximate index (llm-d/llm-d-router, folder
 * pkg/epp/framework/plugins/requestcontrol/dataproducer/approximateprefix): score = tokens sent there before / tokens of the prompt.
 * The index does not know an engine's capacity in tokens: it takes as many blocks of 64 tokens as fit into the limit, which is what the
 * engine has in blocks of 16 (31,250 is its value for engines that do not report theirs). Blocks are those of the router's prefix index.
 */
export default defineScorer({
  type: "llm-d-prefix",
  summary: "Prefers the endpoint that was sent the longest part of the prompt before.",
  options,
  create({ lruCapacityPerServer, blockSizeTokens, maxPrefixTokensToMatch }, host) {
    host.usePrefixIndex({});
    const own = new OwnIndex({ maxTokens: lruCapacityPerServer * blockSizeTokens, clock: host.clock });
    return {
      score({ prefix, promptTokens }, candidates) {
        const looked = Math.max(1, Math.min(promptTokens, maxPrefixTokensToMatch));
        return candidates.map((endpoint) => Math.min(1, own.match(prefix, endpoint).tokens / looked));
      },
      chosen: ({ prefix }, endpoint) => own.add(prefix, endpoint),
    };
  },
});
