import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

/** Defaults of AIBrix (`AIBRIX_PREFIX_CACHE_LOAD_IMBALANCE_MIN_GAP` and so on). */
const options = z.strictObject({
  /** Load is uneven when most - fewest requests in flight >= imbalanceMinGap … */
  imbalanceMinGap: z.int().min(0).max(1_000_000).default(8),
  /** … and most > imbalanceFactor x (mean + 1). */
  imbalanceFactor: z.number().min(0).max(1_000_000).default(2),
  /** An endpoint is too busy when it has more requests than mean + standardDeviationFactor x standard deviation. */
  standardDeviationFactor: z.number().min(0).max(1_000).default(1),
});

/**
 * AIBrix's prefix-cache (file pkg/plugins/gateway/algorithms/prefix_cache.go). If the load is uneven, only the least loaded
 * endpoints count. Else, of the endpoints that are not too busy, the longest match in whole percent wins, then the fewest
 * requests in flight; without a match, the fewest requests. The matches come from the router's prefix index, with its own
 * blocks instead of 128 characters.
 */
export default defineScorer({
  type: "aibrix-prefix",
  summary: "Longest cached prefix among endpoints that are not much busier than the mean.",
  options,
  create({ imbalanceMinGap, imbalanceFactor, standardDeviationFactor }, host) {
    host.usePrefixIndex({});
    return {
      score({ prefix }, candidates, load) {
        const counts = candidates.map(({ slot }) => load.inFlight(slot));
        const { fewest, most, mean, deviation } = spread(counts);
        const isUneven = most - fewest >= imbalanceMinGap && most > imbalanceFactor * (mean + 1);
        const limit = isUneven ? fewest : mean + standardDeviationFactor * deviation;
        // The match in whole percent counts first, then the load. Endpoints over the limit come last, ordered by load only.
        return candidates.map(({ slot }, index) => {
          const count = counts[index]!;
          const byLoad = 1 / (2 + count - fewest);
          const percent = Math.floor(100 * prefix.matchedFraction(slot));
          return count > limit ? byLoad / 102 : (1 + percent + byLoad) / 102;
        });
      },
    };
  },
});

function spread(counts: readonly number[]) {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
  return { fewest: Math.min(...counts), most: Math.max(...counts), mean, deviation: Math.sqrt(variance) };
}
