import type { LoadedConfig } from "../../config/load.ts";
import type { Clock } from "../contract/clock.ts";
import type { RolloutView } from "../contract/rollout.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { RunningConfig } from "../control/running-config.ts";
import type { Router } from "../router.ts";
import { processUsage } from "../runtime/process-usage.ts";

/** The parts of a router that the admin port shows. */
export type ShownRouter = Pick<
  Router,
  | "adapters"
  | "config"
  | "dryRun"
  | "facts"
  | "load"
  | "memory"
  | "startedAtS"
  | "prefixIndex"
  | "connectionsTo"
  | "leftOpenAt"
  | "ejectionsOf"
  | "figures"
  | "intents"
  | "isPanicking"
  | "pluginFaults"
  | "pluginTimes"
  | "slowPlugins"
  | "probeFailure"
  | "savedFacts"
  | "mirroring"
  | "shadowing"
  | "timesOf"
> & { readonly rollouts: RolloutView };

/** What the process knows beside its router. */
export interface ProcessState {
  readonly droppedLogLines: number;
  readonly acceptPauses: number;
  readonly running: ShownConfig;
}

/** What the admin port shows of the config's changes. */
export type ShownConfig = Pick<RunningConfig, "generation" | "lastReload" | "confirmedAtMs" | "overlay" | "reloads"> & {
  readonly loaded: Pick<LoadedConfig, "warnings">;
};

/** The current state of the router, for the pages of observers. */
export function viewOf(router: ShownRouter, clock: Clock, { droppedLogLines, acceptPauses, running }: ProcessState): RouterView {
  const { config, facts, load, memory, startedAtS, prefixIndex } = router;
  return {
    clock,
    startedAtS,
    config: {
      generation: running.generation,
      isLastReloadApplied: running.lastReload?.isApplied ?? true,
      confirmedAtS: Math.floor(running.confirmedAtMs / 1000),
      reloads: running.reloads,
    },
    droppedLogLines,
    acceptPauses,
    isPanicking: router.isPanicking,
    pluginFaults: router.pluginFaults,
    pluginTimes: router.pluginTimes,
    processUsage,
    endpoints: facts.endpoints,
    load: load.at(clock.now()),
    mappings: config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? []),
    rollouts: router.rollouts,
    mirrors: router.mirroring.counts,
    shadow: router.shadowing.counts,
    prefixIndex: prefixIndex && {
      entries: prefixIndex.entries,
      maxEntries: prefixIndex.maxEntries,
      bytes: prefixIndex.bytes,
    },
    memory: {
      limitBytes: memory.limitBytes,
      bodyBytes: memory.bodyBytes,
      unreadBytes: memory.unreadBytes,
      refusals: memory.refusals,
    },
    connectionsTo: (endpoint) => router.connectionsTo(endpoint),
    ejectionsOf: (endpoint) => router.ejectionsOf(endpoint),
    probeFailure: (endpoint) => router.probeFailure(endpoint),
  };
}
