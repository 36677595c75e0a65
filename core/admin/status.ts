import type { RewriteChange } from "../../config/overlay.ts";
import type { Profile } from "../active-config.ts";
import { type Endpoint, isServing, type Phase } from "../contract/endpoint.ts";
import type { TargetMapping } from "../contract/rewriter.ts";
import type { GuardState, TargetFigures } from "../contract/rollout.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { OperatorIntent } from "../control/intents.ts";
import type { ReloadReport } from "../control/running-config.ts";
import type { Limits } from "../settings.ts";
import type { EndpointFigures, PoolFigures } from "../state/request-figures.ts";
import { type MirrorStatus, mirrorsOf, type ShadowStatus, shadowStatus } from "./beside-status.ts";
import { endpointStatus, isoTime } from "./endpoint-status.ts";
import type { ShownConfig, ShownRouter } from "./router-view.ts";
import { type Summary, summaryOf } from "./status-summary.ts";
import { warningsOf } from "./status-warnings.ts";

/** The document of /status: the router and its pool at one moment. */
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
  /** Null without one. */
  readonly shadow: ShadowStatus | null;
  readonly rewrites: readonly RewriteStatus[];
  readonly prefixIndex: { readonly entries: number; readonly maxEntries: number; readonly bytes: number } | null;
  /** What request bodies under way and unread responses hold together, and its bound. */
  readonly memory: RouterView["memory"];
  readonly limits: Limits;
}

/** Host "" and port 0 where another program listens and hands requests over. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** A rewrite that runs otherwise than the files say, because it was changed through the admin API. */
interface OverlayStatus {
  readonly rewrite: string;
  readonly isDeleted: boolean;
  /** The address of whoever changed it, or the guard that did. */
  readonly by: string;
  /** Why, in a sentence; "" where a person changed it. */
  readonly reason: string;
  /** ISO 8601, like `until`, which is null if the change does not end by itself. */
  readonly since: string;
  readonly until: string | null;
}

interface ConfigStatus {
  /** 1 at the start, and one more with each config that took effect since. */
  readonly generation: number;
  readonly overlay: readonly OverlayStatus[];
  /** The last attempt to change the config; null before the first. */
  readonly lastReload: (Omit<ReloadReport, "atMs" | "generation"> & { readonly at: string }) | null;
}

export interface EndpointStatus {
  readonly name: string;
  readonly url: string;
  readonly phase: Phase;
  /** When it came into this phase, in ISO 8601; null if it is not in the pool any more. */
  readonly since: string | null;
  /** Why it is in this phase, in words; "" where there is nothing to explain. */
  readonly why: string;
  /** Whether it gets new requests. */
  readonly isAvailable: boolean;
  /** Why it is ejected, since when, and when it may return; "" while it is not. */
  readonly ejected: string;
  /** What the operator wants of it; null while it may serve. */
  readonly intent: IntentStatus | null;
  /** How often it was ejected so far. */
  readonly ejections: number;
  /** Of an equal share of the traffic, how much it gets, in (0, 1]. */
  readonly share: number;
  /** Why the last probe failed; "" after a success. */
  readonly failure: string;
  /** How long ago the last startup or readiness probe ended; null before the first. */
  readonly lastCheckAgoMs: number | null;
  /** When the next one begins; 0 while one is under way, null if none is planned. */
  readonly nextCheckInMs: number | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly models: readonly string[];
  readonly inFlight: number;
  readonly prefillTokens: number;
  readonly connections: number;
  /** From the replica's metrics; null if unknown. `kvUsage` is in [0, 1]. */
  readonly waiting: number | null;
  readonly running: number | null;
  readonly kvUsage: number | null;
  readonly scrapedAgoMs: number | null;
  /** The confidence that decisions give to those values, in [0, 1]. */
  readonly freshness: number;
  /** What requests met there in the last minutes. */
  readonly figures: EndpointFigures;
}

export interface IntentStatus {
  readonly kind: OperatorIntent["intent"];
  /** The operator's own words; "" for none. */
  readonly reason: string;
  /** ISO 8601, like `until`, which is null if only the operator ends it. */
  readonly since: string;
  readonly until: string | null;
  /** No request is under way there, and no session may send another one: it can be taken away. */
  readonly isEmpty: boolean;
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

export interface RewriteStatus extends TargetMapping {
  readonly targets: readonly TargetStatus[];
  /** Where copies of its requests go. */
  readonly mirrors: readonly MirrorStatus[];
}

interface TargetStatus {
  readonly name: string;
  readonly weight: number;
  /** Share of the rule's requests, in [0, 1]. */
  readonly share: number;
  /** Number of ready endpoints that serve it. */
  readonly readyEndpoints: number;
  /** What became of its requests. */
  readonly figures: TargetFigures | null;
  /** Null without a guard. */
  readonly guard: GuardState | null;
}

/** What the router itself does not know. */
export interface StatusExtras {
  readonly running: ShownConfig;
  readonly sources: readonly string[];
  /** Where clients connect. */
  readonly listen: ListenAddress;
  readonly clientConnections: () => number;
  readonly acceptPauses: () => number;
}

export function statusOf(
  router: Pick<
    ShownRouter,
    "config" | "facts" | "figures" | "intents" | "isPanicking" | "leftOpenAt" | "slowPlugins" | "timesOf"
  >,
  view: RouterView,
  { running, sources, listen, clientConnections, acceptPauses }: StatusExtras,
): Status {
  const { config, facts, isPanicking, slowPlugins } = router;
  const available = facts.endpoints.filter(isServing);
  const rewrites = view.mappings.map((mapping) => rewriteStatus(mapping, available, view));
  const endpoints = facts.endpoints.map((endpoint) => endpointStatus(endpoint, view, router));
  const warnings = warningsOf({ running, endpoints: facts.endpoints, available, rewrites, isPanicking, slowPlugins, view });
  const traffic = router.figures.pool;
  const wallMs = view.clock.wall();
  return {
    time: isoTime(wallMs),
    startedAt: isoTime(view.startedAtS * 1000),
    uptimeS: Math.max(0, Math.floor(wallMs / 1000) - view.startedAtS),
    pool: config.pool,
    sources,
    config: configStatus(running),
    listen,
    clientConnections: clientConnections(),
    acceptPauses: acceptPauses(),
    ...summaryOf(endpoints, traffic, warnings),
    warnings,
    traffic,
    endpoints,
    profile: profileStatus(config.profile),
    shadow: shadowStatus(view),
    rewrites,
    prefixIndex: view.prefixIndex ?? null,
    memory: view.memory,
    limits: config.settings.limits,
  };
}

function configStatus({ generation, overlay, lastReload }: ShownConfig): ConfigStatus {
  const shown = { generation, overlay: overlay.rewrites.map(overlayStatus) };
  if (lastReload === undefined) return { ...shown, lastReload: null };
  const { atMs, cause, isApplied, problems, changes } = lastReload;
  return { ...shown, lastReload: { at: isoTime(atMs), cause, isApplied, problems, changes } };
}

function overlayStatus({ name, document, by, reason = "", sinceMs, untilMs }: RewriteChange): OverlayStatus {
  const until = untilMs === undefined ? null : isoTime(untilMs);
  return { rewrite: name, isDeleted: document === undefined, by, reason, since: isoTime(sinceMs), until };
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

function rewriteStatus(mapping: TargetMapping, available: readonly Endpoint[], view: RouterView): RewriteStatus {
  const sum = mapping.targets.reduce((total, { weight }) => total + weight, 0);
  const targets = mapping.targets.map(({ name, weight }) => ({
    name,
    weight,
    share: sum === 0 ? 0 : weight / sum,
    readyEndpoints: available.filter(({ models }) => models.has(name)).length,
    figures: view.rollouts.figuresOf(mapping.name, name) ?? null,
    guard: view.rollouts.guardOf(mapping.name, name) ?? null,
  }));
  return { ...mapping, targets, mirrors: mirrorsOf(view, mapping.name) };
}
