import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

/** Defaults of AIBrix (`AIBRIX_PREFIX_CACHE_LOAD_IMBALANCE_MIN_GAP` and so on). */
const options = z.strictObject({
  /** Load is uneven when one endpoint has at least so many requests in flight more than another … */
  imbalanceMinGap: z.int().min(0).max(1_000_000).default(8),
  /** … and one has more than so many times the mean and one. */
  imbalanceFactor: z.number().min(0).max(1_000_000).default(2),
  /** An endpoint is passed over when it has more requests than the mean by more than so many standard deviations. */
  standardDeviationFactor: z.number().min(0).max(1_000).default(1),
});

/**
 * AIBrix's prefix-cache (file pkg/plugins/gateway/algorithms/prefix_cache.go). Load uneven: the least loaded only. Then the
 * longest match in whole percent, with fewer requests in flight among equals, of those not far above the mean; without a match
 * the fewest requests. Here the router's prefix index tells the matches, in blocks of its own instead of 128 characters.
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
        // Whole percents of the prompt count first, then the load; whoever is over the limit comes last, by load alone.
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
