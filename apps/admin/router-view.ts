import type { Clock } from "../../core/contract/clock.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import type { MemoryUse, PoolView, PrefixIndexSize, RouterView, TlsView } from "../../core/contract/router-view.ts";
import type { Router } from "../../core/router.ts";
import { processUsage } from "../../core/runtime/process-usage.ts";
import { familiesOfPools } from "./pool-families.ts";
import { furtherPools } from "./pool-sites.ts";
import type { ViewedSite } from "./site.ts";

const NO_TLS: TlsView = { certificates: [], failures: [] };

/** What observers and features see of the router: its current state. */
export function viewOf(site: ViewedSite): RouterView {
  const { router, running, clock, droppedLogLines, acceptPauses } = site;
  const { plugins, features, config } = router;
  const further = furtherPools(site);
  const view: RouterView = {
    clock,
    config: {
      generation: running.generation,
      isLastReloadApplied: running.lastReload?.isApplied ?? true,
      confirmedAtS: Math.floor(running.confirmedAtMs / 1000),
      reloads: running.reloads,
      pool: config.pool,
      mappings: mappingsOf(router),
    },
    pool: poolViewOf(router, clock),
    ...(further.length > 0 && {
      furtherPools: new Map(further.map(({ name, site: inner }) => [name, poolViewOf(inner.router, clock)])),
    }),
    plugins: { faults: plugins.faults.counts, times: plugins.times.timed },
    process: {
      startedAtS: router.identity.startedAtS,
      droppedLogLines: droppedLogLines(),
      acceptPauses: acceptPauses(),
      memory: memoryOf(router),
      usage: processUsage,
    },
    tls: tlsOf(site),
    families: () =>
      familiesOfPools(
        { pool: config.pool, families: features.metrics(view) },
        further.map(({ name: pool, site: inner }) => ({ pool, families: viewOf(inner).families() })),
      ),
  };
  return view;
}

function poolViewOf(router: Router, clock: Clock): PoolView {
  const { pool, control } = router;
  return {
    endpoints: pool.facts.endpoints,
    load: pool.load.at(clock.now()),
    prefixIndex: prefixIndexOf(router),
    isPanicking: control.judge.isPanicking,
    discoveryTroubles: control.discoveryTroubles,
    connectionsTo: (endpoint) => pool.connections.openTo(endpoint),
    ejectionsOf: (endpoint) => control.judge.countOf(endpoint),
    probeFailure: (endpoint) => control.probeFailure(endpoint),
  };
}

/** What the rewriters do to model names. */
export function mappingsOf({ config }: Router): readonly TargetMapping[] {
  return config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? []);
}

/** Undefined when no plugin reads prefixes. */
export function prefixIndexOf({ pool }: Router): PrefixIndexSize | undefined {
  const stats = pool.prefixStats;
  return stats && { entries: stats.entries, maxEntries: stats.maxEntries, bytes: stats.bytes };
}

/** What request bodies under way and unread responses hold together, and its bound. */
export function memoryOf({ gate: { memory } }: Router): MemoryUse {
  const { limitBytes, bodyBytes, unreadBytes, refusals } = memory;
  return { limitBytes, bodyBytes, unreadBytes, refusals };
}

export function tlsOf({ tls = () => NO_TLS }: ViewedSite): TlsView {
  return tls();
}
