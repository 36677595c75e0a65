import type { LoadedConfig } from "../../config/load.ts";
import type { Clock } from "../contract/clock.ts";
import type { RouterView, TlsView } from "../contract/router-view.ts";
import type { ControlPlane } from "../control/control-plane.ts";
import type { RunningConfig } from "../control/running-config.ts";
import type { EndpointJudge } from "../features/judge.ts";
import type { LiveFeatures } from "../features/live-features.ts";
import type { PluginFaults } from "../plugin-watch/plugin-faults.ts";
import type { PluginTimes } from "../plugin-watch/plugin-times.ts";
import type { LivePool } from "../pool/live-pool.ts";
import type { Router } from "../router.ts";
import type { Identity } from "../router-parts.ts";
import { processUsage } from "../runtime/process-usage.ts";

/** What the admin port shows of a router's parts. */
export interface ShownRouter extends Pick<Router, "adapters" | "config" | "dryRun" | "savedFacts"> {
  readonly pool: Pick<LivePool, "facts" | "load" | "prefixStats" | "connectionsTo" | "leftOpenAt" | "figures">;
  readonly control: Pick<ControlPlane, "discoveryTroubles" | "intents" | "probeFailure" | "timesOf" | "unreadableSources"> & {
    readonly judge: Pick<EndpointJudge, "countOf" | "isPanicking">;
  };
  readonly gate: { readonly memory: RouterView["process"]["memory"] };
  readonly plugins: {
    readonly times: Pick<PluginTimes, "slow" | "timed">;
    readonly faults: Pick<PluginFaults, "counts" | "lately">;
  };
  readonly features: Pick<LiveFeatures, "status" | "notes" | "warnings" | "metrics">;
  readonly identity: Pick<Identity, "startedAtS">;
}

/** What a view is made of. */
export interface ViewedSite {
  readonly router: ShownRouter;
  /** The config that runs. */
  readonly running: ShownConfig;
  readonly clock: Clock;
  /** Lines of the program's outputs that were dropped. */
  readonly droppedLogLines: () => number;
  readonly acceptPauses: () => number;
  /** Left out: no TLS. */
  readonly tls?: () => TlsView;
}

const NO_TLS: TlsView = { certificates: [], failures: [] };

/** What the admin port shows of the config's changes. */
export type ShownConfig = Pick<
  RunningConfig,
  "generation" | "lastReload" | "confirmedAtMs" | "overlay" | "reloads" | "restored"
> & {
  readonly loaded: Pick<LoadedConfig, "warnings">;
};

/** The current state of the router, for the pages of observers. */
export function viewOf({ router, running, clock, droppedLogLines, acceptPauses, tls = () => NO_TLS }: ViewedSite): RouterView {
  const { config, pool, control, plugins, features } = router;
  const { memory } = router.gate;
  const prefixIndex = pool.prefixStats;
  const view: RouterView = {
    clock,
    config: {
      generation: running.generation,
      isLastReloadApplied: running.lastReload?.isApplied ?? true,
      confirmedAtS: Math.floor(running.confirmedAtMs / 1000),
      reloads: running.reloads,
      mappings: config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? []),
    },
    pool: {
      endpoints: pool.facts.endpoints,
      load: pool.load.at(clock.now()),
      prefixIndex: prefixIndex && {
        entries: prefixIndex.entries,
        maxEntries: prefixIndex.maxEntries,
        bytes: prefixIndex.bytes,
      },
      isPanicking: control.judge.isPanicking,
      discoveryTroubles: control.discoveryTroubles,
      connectionsTo: (endpoint) => pool.connectionsTo(endpoint),
      ejectionsOf: (endpoint) => control.judge.countOf(endpoint),
      probeFailure: (endpoint) => control.probeFailure(endpoint),
    },
    plugins: { faults: plugins.faults.counts, times: plugins.times.timed },
    process: {
      startedAtS: router.identity.startedAtS,
      droppedLogLines: droppedLogLines(),
      acceptPauses: acceptPauses(),
      memory: {
        limitBytes: memory.limitBytes,
        bodyBytes: memory.bodyBytes,
        unreadBytes: memory.unreadBytes,
        refusals: memory.refusals,
      },
      usage: processUsage,
    },
    tls: tls(),
    families: () => features.metrics(view),
  };
  return view;
}
