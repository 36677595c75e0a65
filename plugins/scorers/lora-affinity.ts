import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { AdapterFacts, AdapterUse } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { RecentTargets } from "./recent-targets.ts";

const options = z.strictObject({
  /** Adapters that a replica can run at the same time (vLLM's --max-loras), if its metrics do not report it. */
  maxLora: z.int().min(1).max(1024).default(1),
});

/**
 * score = 1 if the adapter is in use, or among the last n adapters sent there (n = adapters that run at the same time); 0.8 if
 * there is room for another; 0.6 if it is waiting; else 0. No opinion on base models, or if nothing is known.
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

/** True only if a model list distinguishes base models, which are always loaded, from adapters. */
function isBaseModel(target: string, { models }: Endpoint, adapters: AdapterFacts | undefined): boolean {
  return adapters?.names !== undefined && models.has(target) && !adapters.names.has(target);
}

function affinity(target: string, { running, waiting, max }: AdapterUse): number {
  if (running.has(target)) return 1;
  // vLLM may name an adapter in both lists; it must count once.
  if (new Set([...running, ...waiting]).size < max) return 0.8;
  return waiting.has(target) ? 0.6 : 0;
}
