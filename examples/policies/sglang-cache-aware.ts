import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { uncachedTokens } from "../../plugins/scorers/uncached-tokens.ts";
import { cheapestFirst } from "./cheapest-first.ts";

/** Defaults of the command line of SGLang's router (`--cache-threshold` and so on). */
const options = z.strictObject({
  /** The best match counts when it is a larger share of the prompt than this. */
  cacheThreshold: z.number().min(0).max(1).default(0.3),
  /** Load is uneven when one endpoint has more than so many requests in flight more than another … */
  balanceAbsThreshold: z.int().min(0).max(1_000_000).default(64),
  /** … and more than so many times as many. */
  balanceRelThreshold: z.number().min(1).max(1_000_000).default(1.5),
  /** Characters that an endpoint's tree keeps. */
  maxTreeSize: z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
});

const CHARS_PER_TOKEN = 4;

/**
 * SGLang's cache_aware (sgl-router, file src/policies/cache_aware.rs). Load uneven: fewest requests in flight. Else, where a
 * candidate holds more than the threshold of the prompt: longest match. Else: the smallest tree, so that caches fill evenly.
 *
 * Its router keeps a tree of prompts for each worker, mostly larger than the worker's cache. Here the router's prefix index tells
 * the matches, which is as large as the cache and so does better; a tree's size is the sum of what was new to the endpoint, up
 * to the tree's limit. (Successors of that router take the fewest requests in flight instead of the smallest tree.)
 */
export default defineScorer({
  type: "sglang-cache-aware",
  summary: "Longest cached prefix while load is even, else fewest requests in flight.",
  options,
  create({ cacheThreshold, balanceAbsThreshold, balanceRelThreshold, maxTreeSize }, host) {
    host.usePrefixIndex({});
    /** By slot, which may get another endpoint. */
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
