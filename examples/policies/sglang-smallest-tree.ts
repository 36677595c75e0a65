import { defineScorer, type Endpoint, uncachedTokens, z } from "signalbox/plugin";
import { cheapestFirst } from "./cheapest-first.ts";

/** Defaults of the command line of SGLang's router (`--cache-threshold` and so on). */
const options = z.strictObject({
  /** The longest match decides if it is a larger share of the prompt than this. */
  cacheThreshold: z.number().min(0).max(1).default(0.3),
  /** Load is uneven when most - fewest requests in flight > balanceAbsThreshold … */
  balanceAbsThreshold: z.int().min(0).max(1_000_000).default(64),
  /** … and most > balanceRelThreshold x fewest. */
  balanceRelThreshold: z.number().min(1).max(1_000_000).default(1.5),
  /** Most characters in an endpoint's tree. */
  maxTreeSize: z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
});

const CHARS_PER_TOKEN = 4;

/**
 * SGLang's cache_aware as it was until 2025 (sgl-project/sglang, file sgl-router/src/policies/cache_aware.rs), on a better index. If
 * the load is uneven: fewest requests in flight. Else, if a candidate holds more than the threshold of the prompt: longest match.
 * Else: smallest tree, so that caches fill evenly.
 *
 * The matches come from the router's prefix index, which has the size of the cache; sglang-cache-aware.ts has an index like SGLang's
 * own. A tree's size is the sum of the uncached tokens sent to the endpoint, up to the tree's limit.
 */
export default defineScorer({
  type: "sglang-smallest-tree",
  summary: "Longest cached prefix while load is even, else fewest requests in flight; new prompts go where least was sent.",
  options,
  create({ cacheThreshold, balanceAbsThreshold, balanceRelThreshold, maxTreeSize }, host) {
    host.usePrefixIndex({});
    /** By slot, with the endpoint's name, because another endpoint may get the slot. */
    const trees: { readonly name: string; readonly size: number }[] = [];
    const treeSize = ({ slot, name }: Endpoint) => (trees[slot]?.name === name ? trees[slot].size : 0);
    return {
      score({ prefix }, candidates, load) {
        const counts = candidates.map(({ slot }) => load.inFlight(slot));
        const most = Math.max(...counts);
        const fewest = Math.min(...counts);
        if (most - fewest > balanceAbsThreshold && most > balanceRelThreshold * fewest) return cheapestFirst(counts);
        const matches = candidates.map(({ slot }) => prefix.matchedFraction(slot));
        if (Math.max(...matches) > cacheThreshold) return matches;
        return cheapestFirst(candidates.map(treeSize));
      },
      chosen(request, endpoint) {
        const added = uncachedTokens(request, endpoint.slot) * CHARS_PER_TOKEN;
        trees[endpoint.slot] = { name: endpoint.name, size: Math.min(maxTreeSize, treeSize(endpoint) + added) };
      },
    };
  },
});
