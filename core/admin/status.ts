import type { Endpoint, Phase } from "../contract/endpoint.ts";
import type { RewriteRule } from "../contract/rewrite-rule.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { Limits } from "../settings.ts";

/** The document of /status: the router and its pool at one moment. */
export interface Status {
  /** ISO 8601. */
  readonly time: string;
  readonly startedAt: string;
  readonly uptimeS: number;
  readonly pool: string;
  /** Files and other places that the config came from. */
  readonly sources: readonly string[];
  readonly clientConnections: number;
  /** Problems that need attention, as sentences. */
  readonly warnings: readonly string[];
  readonly endpoints: readonly EndpointStatus[];
  readonly profile: ProfileStatus;
  readonly rewrites: readonly RewriteStatus[];
  readonly prefixIndex: { readonly entries: number; readonly maxEntries: number; readonly bytes: number } | null;
  readonly limits: Limits;
}

export interface EndpointStatus {
  readonly name: string;
  readonly url: string;
  readonly phase: Phase;
  /** Why the last probe failed; "" after a success. */
  readonly failure: string;
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

export interface RewriteStatus extends RewriteRule {
  readonly targets: readonly TargetStatus[];
}

interface TargetStatus {
  readonly name: string;
  readonly weight: number;
  /** Share of the rule's requests, in [0, 1]. */
  readonly share: number;
  /** Number of ready endpoints that serve it. */
  readonly readyEndpoints: number;
}

/** What the router itself does not know. */
export interface StatusExtras {
  readonly sources: readonly string[];
  readonly clientConnections: () => number;
}

export function statusOf(view: RouterView, { sources, clientConnections }: StatusExtras): Status {
  const { snapshot, clock, prefixIndex } = view;
  const ready = snapshot.endpoints.filter(({ phase }) => phase === "ready");
  const rewrites = snapshot.rewriters.flatMap(({ plugin }) => (plugin.rules ?? []).map((rule) => rewriteStatus(rule, ready)));
  const wallMs = clock.wall();
  return {
    time: new Date(wallMs).toISOString(),
    startedAt: new Date(snapshot.startedAtS * 1000).toISOString(),
    uptimeS: Math.max(0, Math.floor(wallMs / 1000) - snapshot.startedAtS),
    pool: snapshot.pool,
    sources,
    clientConnections: clientConnections(),
    warnings: ready.length === 0 ? [nobodyReady(snapshot.endpoints.length)] : rewrites.flatMap(targetWarnings),
    endpoints: snapshot.endpoints.map((endpoint) => endpointStatus(endpoint, view)),
    profile: profileStatus(view),
    rewrites,
    prefixIndex: prefixIndex
      ? { entries: prefixIndex.entries, maxEntries: prefixIndex.maxEntries, bytes: prefixIndex.bytes }
      : null,
    limits: snapshot.settings.limits,
  };
}

function endpointStatus(endpoint: Endpoint, view: RouterView): EndpointStatus {
  const { name, slot, url, phase, labels, models } = endpoint;
  const { load, clock } = view;
  return {
    name,
    url: url.href,
    phase,
    failure: view.probeFailure(endpoint),
    labels,
    models: [...models],
    inFlight: load.inFlight[slot]!,
    prefillTokens: load.prefillTokens[slot]!,
    connections: view.connectionsTo(endpoint),
    waiting: known(load.waiting[slot]!),
    running: known(load.running[slot]!),
    kvUsage: known(load.kvUsage[slot]!),
    scrapedAgoMs: known(Math.round(clock.now() - load.scrapedAtMs[slot]!)),
    freshness: load.freshness[slot]!,
  };
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function profileStatus({ snapshot }: RouterView): ProfileStatus {
  const { name, filters, scorers, picker } = snapshot.profile;
  const nameOf = (plugin: PluginName): PluginName => ({ name: plugin.name, type: plugin.type });
  return {
    name,
    filters: filters.map(nameOf),
    scorers: scorers.map((scorer) => ({ ...nameOf(scorer), weight: scorer.weight })),
    picker: nameOf(picker),
  };
}

function rewriteStatus(rule: RewriteRule, ready: readonly Endpoint[]): RewriteStatus {
  const sum = rule.targets.reduce((total, { weight }) => total + weight, 0);
  const targets = rule.targets.map(({ name, weight }) => ({
    name,
    weight,
    share: sum === 0 ? 0 : weight / sum,
    readyEndpoints: ready.filter(({ models }) => models.has(name)).length,
  }));
  return { ...rule, targets };
}

function nobodyReady(poolSize: number): string {
  return poolSize === 0
    ? "The pool has no replicas: add some to the config, or wait until they are found."
    : "No replica is ready, so requests get 503: see the list of replicas for why their probes fail.";
}

function targetWarnings({ name, targets, onUnavailable }: RewriteStatus): readonly string[] {
  const what = onUnavailable === "refuse" ? "get 503" : "go to its other targets";
  return targets
    .filter(({ weight, readyEndpoints }) => weight > 0 && readyEndpoints === 0)
    .map(
      (target) =>
        `No ready replica serves "${target.name}", a target of the rewrite ${name}: its requests ${what}. Load it or set its weight to 0.`,
    );
}
