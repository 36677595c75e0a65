import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

const share = z.number().min(0).max(1);

const options = z.strictObject({
  /** Share of the prompt that an endpoint must hold to be a holder; 0 turns the filter off. */
  affinityThreshold: share.default(0.8),
  /** Probability of keeping all candidates, so that prompts also get to other endpoints. */
  explorationProbability: share.default(0),
  /** All are kept if the best holder's time to first token exceeds the best other's by more than this; 0: no limit. */
  maxTTFTPenaltyMs: z.number().min(0).max(3_600_000).default(18_000),
  ttftSource: z
    .literal("prefillThroughput", "prefillThroughput: this filter does not ask the latency predictor")
    .default("prefillThroughput"),
  /** Prompt tokens per second that one replica processes at most. */
  peakPrefillThroughput: z.number().positive().max(1_000_000_000).default(15_928),
});

/** Keeps only the holders of the prompt. Time to first token = prefill tokens outstanding there / peakPrefillThroughput. */
export default defineFilter({
  type: "prefix-cache-affinity",
  summary: "Keeps only endpoints that hold most of the prompt, unless they are much too busy.",
  options,
  create({ affinityThreshold, explorationProbability, maxTTFTPenaltyMs, peakPrefillThroughput }, host) {
    host.usePrefixIndex({});
    const msPerToken = 1000 / peakPrefillThroughput;
    return {
      expresses: "wish",
      filter({ prefix }, candidates, load, random) {
        if (candidates.length < 2 || affinityThreshold === 0) return candidates;
        if (explorationProbability > 0 && random() < explorationProbability) return candidates;
        const isHolder = ({ slot }: Endpoint) => prefix.matchedFraction(slot) >= affinityThreshold;
        const holders = candidates.filter(isHolder);
        if (holders.length === 0 || holders.length === candidates.length || maxTTFTPenaltyMs === 0)
          return orAll(holders, candidates);
        const others = candidates.filter((endpoint) => !isHolder(endpoint));
        const penaltyMs = (leastTokens(holders, load) - leastTokens(others, load)) * msPerToken;
        return penaltyMs > maxTTFTPenaltyMs ? candidates : holders;
      },
    };
  },
});

const orAll = (kept: readonly Endpoint[], all: readonly Endpoint[]) => (kept.length === 0 ? all : kept);

function leastTokens(endpoints: readonly Endpoint[], load: LoadView): number {
  return endpoints.reduce((least, { slot }) => Math.min(least, load.prefillTokens(slot)), Number.POSITIVE_INFINITY);
}
