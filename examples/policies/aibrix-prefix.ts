import { defineScorer, z } from "signalbox/plugin";
import { OwnIndex } from "./own-index.ts";

/** Defaults of AIBrix (`AIBRIX_PREFIX_CACHE_LOAD_IMBALANCE_MIN_GAP` and so on). */
const options = z.strictObject({
  /** Load is uneven when most - fewest requests in flight >= imbalanceMinGap … */
  imbalanceMinGap: z.int().min(0).max(1_000_000).default(8),
  /** … and most > imbalanceFactor x (mean + 1). */
  imbalanceFactor: z.number().min(0).max(1_000_000).default(2),
  /** An endpoint is too busy when it has more requests than mean + standardDeviationFactor x standard deviation. */
  standardDeviationFactor: z.number().min(0).max(1_000).default(1),
  /** Most blocks of 128 characters remembered for each endpoint. */
  blockNumber: z.int().min(1).max(1_000_000_000).default(200_000),
  /** Minutes after which an unused block is forgotten. */
  evictionMinutes: z.number().positive().max(1_000_000).default(20),
});

const TOKENS_PER_BLOCK = 128 / 4;

/**
 * AIBrix's prefix-cache (vllm-project/aibrix, files pkg/plugins/gateway/algorithms/prefix_cache.go and
 * pkg/utils/prefixcacheindexer/hash.go). If the load is uneven, only the least loaded
 * endpoints count. Else, of the endpoints that are not too busy, the longest match in whole percent wins, then the fewest
 * requests in flight; without a match, the fewest requests. It remembers the prompts sent to each endpoint, usually more than that one's
 * cache holds; the blocks are those of the router's prefix index instead of 128 characters.
 */
export default defineScorer({
  type: "aibrix-prefix",
  summary: "Longest cached prefix among endpoints that are not much busier than the mean.",
  options,
  create({ imbalanceMinGap, imbalanceFactor, standardDeviationFactor, blockNumber, evictionMinutes }, host) {
    host.usePrefixIndex({});
    const settings = { maxTokens: blockNumber * TOKENS_PER_BLOCK, maxIdleMs: evictionMinutes * 60_000 };
    const own = new OwnIndex({ ...settings, clock: host.clock });
    return {
      score({ prefix, promptTokens }, candidates, load) {
        const counts = candidates.map(({ slot }) => load.inFlight(slot));
        const { fewest, most, mean, deviation } = spread(counts);
        const isUneven = most - fewest >= imbalanceMinGap && most > imbalanceFactor * (mean + 1);
        const limit = isUneven ? fewest : mean + standardDeviationFactor * deviation;
        // The match in whole percent counts first, then the load. Endpoints over the limit come last, ordered by load only.
        return candidates.map((endpoint, index) => {
          const count = counts[index]!;
          const byLoad = 1 / (2 + count - fewest);
          const percent = Math.min(100, Math.floor((100 * own.match(prefix, endpoint).tokens) / Math.max(1, promptTokens)));
          return count > limit ? byLoad / 102 : (1 + percent + byLoad) / 102;
        });
      },
      chosen: ({ prefix }, endpoint) => own.add(prefix, endpoint),
    };
  },
});

function spread(counts: readonly number[]) {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
  return { fewest: Math.min(...counts), most: Math.max(...counts), mean, deviation: Math.sqrt(variance) };
}
