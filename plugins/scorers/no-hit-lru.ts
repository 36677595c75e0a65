import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

const options = z.strictObject({
  /** Number of endpoints whose last cold request is remembered. */
  lruSize: z.int().min(1).max(65_536).default(1024),
});

/**
 * If any candidate holds a part of the prompt, score = 0.5 for all. Else the request is cold: candidates are ranked by their last
 * cold request (never first, then the longest ago) and score = 1 - rank / (n - 1), so that caches fill evenly.
 */
export default defineScorer({
  type: "no-hit-lru",
  summary: "Spreads prompts that no endpoint has cached: least recent cold request first.",
  options,
  create({ lruSize }, host) {
    host.usePrefixIndex({});
    /** Names of endpoints by their last cold request, oldest first. */
    const lastCold = host.keep(1, () => new Set<string>());
    const coldRequests = new WeakSet<InferenceRequest>();
    return {
      score(request, candidates) {
        if (candidates.some(({ slot }) => request.prefix.matchedBlocks(slot) > 0)) return candidates.map(() => 0.5);
        coldRequests.add(request);
        return scoresByRank(candidates, lastCold);
      },
      chosen(request, { name }) {
        if (!coldRequests.has(request)) return;
        lastCold.delete(name);
        lastCold.add(name);
        const [oldest] = lastCold;
        if (lastCold.size > lruSize && oldest !== undefined) lastCold.delete(oldest);
      },
    };
  },
});

function scoresByRank(candidates: readonly Endpoint[], lastCold: ReadonlySet<string>): number[] {
  const ranks = new Map<string, number>();
  for (const { name } of candidates) if (!lastCold.has(name)) ranks.set(name, ranks.size);
  const names = new Set(candidates.map(({ name }) => name));
  for (const name of lastCold) if (names.has(name)) ranks.set(name, ranks.size);
  return candidates.map(({ name }) => (candidates.length === 1 ? 1 : 1 - ranks.get(name)! / (candidates.length - 1)));
}
