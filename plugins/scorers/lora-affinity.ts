import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { AdapterFacts, AdapterUse } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { RecentTargets } from "./recent-targets.ts";

const options = z.strictObject({
  /** Adapters that a replica runs at the same time where its metrics don't tell (vLLM's --max-loras). */
  maxLora: z.int().min(1).max(1024).default(1),
});

/**
 * score = 1 where the adapter is in use or among the last that were sent there, as many as fit; 0.8 where there is room for
 * another; 0.6 where it waits already; else 0. No opinion on base models, and where nothing is known.
 */
export default defineScorer({
  type: "lora-affinity",
  summary: "Prefers endpoints whose engine holds the adapter, then those with room for it.",
  options,
  create({ maxLora }, host) {
    const recent = host.keep(1, () => new RecentTargets());
    return {
      score({ target }, candidates, load) {
        if (target === "") return null;
        const scores = candidates.map((endpoint) => {
          const adapters = load.adapters(endpoint.slot);
          if (isBaseModel(target, endpoint, adapters)) return null;
          if (recent.isAmongLast(target, endpoint, adapters?.use?.max || maxLora)) return 1;
          return adapters?.use === undefined ? null : affinity(target, adapters.use);
        });
        return scores.every((score) => score === null) ? null : scores;
      },
      chosen({ target }, endpoint) {
        if (target !== "") recent.note(target, endpoint);
      },
    };
  },
});

/** Base models are always loaded; only a list that tells the two apart can say so. */
function isBaseModel(target: string, { models }: Endpoint, adapters: AdapterFacts | undefined): boolean {
  return adapters?.names !== undefined && models.has(target) && !adapters.names.has(target);
}

function affinity(target: string, { running, waiting, max }: AdapterUse): number {
  if (running.has(target)) return 1;
  // vLLM names an adapter in both lists, so they are counted as one.
  if (new Set([...running, ...waiting]).size < max) return 0.8;
  return waiting.has(target) ? 0.6 : 0;
}
