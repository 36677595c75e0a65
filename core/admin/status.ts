import type { Profile } from "../active-config.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { Limits } from "../settings.ts";
import type { PoolFigures } from "../state/request-figures.ts";
import type { EndpointStatus } from "./api/endpoint-schema.ts";
import { type ConfigStatus, configStatus } from "./config-status.ts";
import { endpointStatus, isoTime } from "./endpoint-status.ts";
import { type RewriteStatus, rewriteStatus } from "./rewrite-status.ts";
import type { ShownConfig, ShownRouter } from "./router-view.ts";
import { type Summary, summaryOf } from "./status-summary.ts";
import { warningsOf } from "./status-warnings.ts";

/** The document of /status: the router and its pool at one moment. The features add their own parts to it. */
export interface Status extends Summary {
  /** ISO 8601. */
  readonly time: string;
  readonly startedAt: string;
  readonly uptimeS: number;
  readonly pool: string;
  /** Files and other places that the config came from. */
  readonly sources: readonly string[];
  readonly config: ConfigStatus;
  /** Where clients connect. */
  readonly listen: ListenAddress;
  readonly clientConnections: number;
  /** How often there were times in which no more client connections were taken. */
  readonly acceptPauses: number;
  /** Problems that need attention, as sentences. */
  readonly warnings: readonly string[];
  /** What requests met in the last minutes. */
  readonly traffic: PoolFigures;
  readonly endpoints: readonly EndpointStatus[];
  readonly profile: ProfileStatus;
  readonly rewrites: readonly RewriteStatus[];
  readonly prefixIndex: { readonly entries: number; readonly maxEntries: number; readonly bytes: number } | null;
  /** What request bodies under way and unread responses hold together, and its bound. */
  readonly memory: RouterView["process"]["memory"];
  readonly limits: Limits;
}

/** Host "" and port 0 where another program listens and hands requests over. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

interface ProfileStatus {
  readonly name: string;
  readonly filters: readonly PluginName[];
  readonly scorers: readonly (PluginName & { readonly weight: number })[];
  readonly picker: PluginName;
}

interface PluginName {
  readonly name: string;
  readonly type: string;
}

/** What the router itself does not know. */
export interface StatusExtras {
  readonly running: ShownConfig;
  readonly sources: readonly string[];
  /** Where clients connect. */
  readonly listen: ListenAddress;
  readonly clientConnections: () => number;
}

export function statusOf(
  router: ShownRouter,
  view: RouterView,
  { running, sources, listen, clientConnections }: StatusExtras,
): Status {
  const { config, pool, plugins, features } = router;
  const { startedAtS, acceptPauses, memory } = view.process;
  const rewrites = view.config.mappings.map((mapping) => rewriteStatus(mapping, view, features));
  const endpoints = view.pool.endpoints.map((endpoint) => endpointStatus(endpoint, view, router));
  const warnings = warningsOf({ running, rewrites, slowPlugins: plugins.times.slow, view, features });
  const traffic = pool.figures.pool;
  const wallMs = view.clock.wall();
  return {
    time: isoTime(wallMs),
    startedAt: isoTime(startedAtS * 1000),
    uptimeS: Math.max(0, Math.floor(wallMs / 1000) - startedAtS),
    pool: config.pool,
    sources,
    config: configStatus(running),
    listen,
    clientConnections: clientConnections(),
    acceptPauses,
    ...summaryOf(endpoints, traffic, warnings),
    warnings,
    traffic,
    endpoints,
    profile: profileStatus(config.profile),
    ...features.status(),
    rewrites,
    prefixIndex: view.pool.prefixIndex ?? null,
    memory,
    limits: config.settings.limits,
  };
}

function profileStatus({ name, filters, scorers, picker }: Profile): ProfileStatus {
  const nameOf = (plugin: PluginName): PluginName => ({ name: plugin.name, type: plugin.type });
  return {
    name,
    filters: filters.map(nameOf),
    scorers: scorers.map((scorer) => ({ ...nameOf(scorer), weight: scorer.weight })),
    picker: nameOf(picker),
  };
}
