import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { AdapterFacts, AdapterUse, LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { RecentTargets } from "./recent-targets.ts";

const options = z.strictObject({
  /** Adapters that a replica can run at the same time (vLLM's --max-loras), if its metrics do not report it. */
  maxLora: z.int().min(1).max(1024).default(1),
});

/** It is there. */
const HELD = 1;
/** It was sent there, and how many fit beside it is not known. */
const SENT = 0.9;
/** There is room for it. */
const ROOM = 0.8;
/** It waits there for room. */
const WAITS = 0.6;
/** One that no request uses gives way to it. */
const DISPLACES = 0.4;

/**
 * score = 1 if the adapter is in use, or among the last n adapters sent there (n = adapters that run at the same time); 0.8 if
 * there is room for another beside those; 0.6 if it is waiting; 0.4 if one that is not in use can give way; else 0. No opinion on base
 * models, or if nothing is known.
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
        const usual = usualMax(candidates, load);
        let isKnown = false;
        const scores = candidates.map((endpoint) => {
          const adapters = load.adapters(endpoint.slot);
          if (isBaseModel(target, endpoint, adapters)) return null;
          const { names, use } = adapters ?? {};
          const max = use?.max || usual || maxLora;
          const isHeld = recent.isAmongLast(target, endpoint, max);
          isKnown ||= isHeld || use !== undefined;
          if (isHeld) return HELD;
          if (use !== undefined) return affinity(target, use, recent.last(endpoint, max));
          if (names?.has(target) !== true) return null;
          if (usual > 0) return affinity(target, { ...NOT_IN_USE, max }, recent.last(endpoint, max));
          const sent = recent.last(endpoint);
          isKnown ||= sent.length > 0;
          return unreported(target, sent);
        });
        return isKnown ? scores : null;
      },
      chosen({ target }, endpoint) {
        if (target !== "") recent.note(target, endpoint);
      },
    };
  },
});

const NOT_IN_USE = { running: new Set<string>(), waiting: new Set<string>() };

/** How many adapters run at the same time at a candidate that says so; 0 where none does. */
function usualMax(candidates: readonly Endpoint[], load: LoadView): number {
  let most = 0;
  for (const { slot } of candidates) most = Math.max(most, load.adapters(slot)?.use?.max ?? 0);
  return most;
}

/** True only if a model list distinguishes base models, which are always loaded, from adapters. */
function isBaseModel(target: string, { models }: Endpoint, adapters: AdapterFacts | undefined): boolean {
  return adapters?.names !== undefined && models.has(target) && !adapters.names.has(target);
}

/** `recent`: adapters that were sent there last, and are there although none of their requests may be left. */
function affinity(target: string, { running, waiting, max }: AdapterUse, recent: readonly string[]): number {
  if (running.has(target)) return HELD;
  // vLLM may name an adapter in both lists; it must count once.
  const inUse = new Set([...running, ...waiting]);
  const free = max - inUse.size;
  if (free > recent.filter((name) => !inUse.has(name)).length) return ROOM;
  if (waiting.has(target)) return WAITS;
  return free > 0 ? DISPLACES : 0;
}

/** Of a replica whose metrics name no adapter yet, as no other's do: vLLM's don't before the first. */
function unreported(target: string, recent: readonly string[]): number {
  return recent.includes(target) ? SENT : ROOM / (1 + recent.length);
}
