import { isDeepStrictEqual } from "node:util";
import { targetLabel } from "../../core/report/target-label.ts";
import type { AdminAddress, ListenAddress, PluginEntry, RewriteRule, RouterConfig } from "../../core/router-config.ts";
import type { CertificatePair, CredentialSettings, ReplicaTls, ServerTls, Settings } from "../../core/settings.ts";
import type { LoadedConfig } from "../load.ts";
import { isOfOther } from "../plugins/own-instances.ts";
import { poolsOf } from "../pools/read.ts";
import { listed, named } from "../read/differences.ts";
import { describe, type Path, type Problem, problemAt } from "../read/problems.ts";
import { poolChanges } from "./pool-changes.ts";

const RESTART = "It can't change while the router runs: restart the router to change it.";

/** Problems for what the next config changes that can't change while the router runs. */
export function fixedChanges(running: LoadedConfig, next: LoadedConfig): readonly Problem[] {
  const was = fixedValues(running);
  const wanted = fixedValues(next);
  return [...wanted].flatMap(([key, value]) => {
    const before = was.get(key);
    // Where the admin port was off it had no host either.
    if (!was.has(key) || isDeepStrictEqual(before, value)) return [];
    const path: Path = ["spec", ...key.split(".")];
    return [problemAt(next.positionOf(path), path, { found: shown(value), wanted: shown(before), hint: RESTART })];
  });
}

function fixedValues({ config: { listen, admin, features }, sections }: LoadedConfig): ReadonlyMap<string, unknown> {
  const ofAdmin = admin && [...addressValues("admin", admin), ["admin.hosts", admin.hosts] as const];
  const ofFeatures = sections.flatMap(({ section: { key, fixed } }) =>
    Object.entries(fixed?.(features.get(key)) ?? {}).map(([name, value]) => [`${key}.${name}`, value] as const),
  );
  return new Map<string, unknown>([
    ...addressValues("listen", listen),
    ["admin", admin !== undefined],
    ...(ofAdmin ?? []),
    ...ofFeatures,
  ]);
}

function addressValues(section: string, { host, port, isPortShared, tls }: ListenAddress) {
  const values = Object.entries({ host, port, reusePort: isPortShared, tls: tls === undefined ? "plain HTTP" : "TLS" });
  return values.map(([key, value]) => [`${section}.${key}`, value] as const);
}

const shown = (value: unknown) => (Array.isArray(value) ? JSON.stringify(value) : describe(value));

/** What of a config is compared; a pool has one too. */
export type ShownConfig = Pick<LoadedConfig, "config" | "definitions" | "sections">;

/**
 * What the next config changes, in words, each on one line; empty if it would run as the one before does. Addresses that can't
 * change are left out.
 */
export function changesBetween(running: ShownConfig, next: ShownConfig): readonly string[] {
  const { pool, profile, rewrites, settings } = running.config;
  const after = next.config;
  return [
    ...named("pool", { name: pool.name, probes: pool.probes }, { name: after.pool.name, probes: after.pool.probes }),
    ...listed("endpoint", pool.endpoints, after.pool.endpoints),
    ...listed("plugin", instancesOf(running), instancesOf(next), { isSame: isSameInstance }),
    ...replicaTlsChanges("pool.tls", tlsOfPool(settings), tlsOfPool(after.settings)),
    ...replicaTlsChanges("plugins' tls", tlsOfPlugins(settings), tlsOfPlugins(after.settings)),
    ...tlsChanges("listen", running.config.listen.tls, after.listen.tls),
    ...tlsChanges("admin", running.config.admin?.tls, after.admin?.tls),
    ...accessChanges(running.config.admin, after.admin),
    ...(isDeepStrictEqual(profile, after.profile) ? [] : [`profile ${after.profile.name} changed`]),
    ...listed("rewrite", rewrites, after.rewrites, { difference: weightsText }),
    ...named("limits", settings.limits, after.settings.limits),
    ...(isDeepStrictEqual(revealed(settings.credentials), revealed(after.settings.credentials)) ? [] : [KEYS_CHANGED]),
    ...named("settings", withoutOwnLines(settings), withoutOwnLines(after.settings)),
    ...featureChanges(running, after),
    ...poolChanges(poolsOf(running.config.features), poolsOf(after.features), changesBetween),
  ];
}

/** Limits, and keys, which are never shown, have lines of their own. */
function withoutOwnLines({ limits: _limits, credentials: _credentials, replicaTls: _tls, ...others }: Settings) {
  return others;
}

const KEYS_CHANGED = "the replicas' keys changed";

function revealed(credentials: CredentialSettings | undefined): unknown {
  if (credentials === undefined) return undefined;
  const { ofPool, ofEndpoint, isForwarded } = credentials;
  return [ofPool?.reveal(), [...ofEndpoint].map(([name, key]) => [name, key.reveal()]), isForwarded];
}

function featureChanges(
  { config: { features: before }, sections }: ShownConfig,
  { features: after }: RouterConfig,
): readonly string[] {
  return sections.flatMap(({ section }) => {
    const { key } = section;
    const [was, is] = [before.get(key), after.get(key)];
    if (isDeepStrictEqual(was, is)) return [];
    return section.changes?.(was, is) ?? named("settings", { [key]: was }, { [key]: is });
  });
}

function tlsChanges(section: string, before: ServerTls | undefined, after: ServerTls | undefined): readonly string[] {
  const rest = ({ clientCa, minVersion }: Partial<ServerTls> = {}) => ({ clientCa, minVersion });
  return [
    ...pairChanges(`${section}.tls`, before?.pairs, after?.pairs),
    ...(isDeepStrictEqual(rest(before), rest(after)) ? [] : [`${section}.tls changed`]),
  ];
}

function pairChanges(section: string, before: readonly CertificatePair[] = [], after: readonly CertificatePair[] = []) {
  const named = (pairs: readonly CertificatePair[]) =>
    pairs.map((pair) => ({ name: pair.certFile, ...pair, key: pair.key.reveal() }));
  return listed(`${section} certificate`, named(before), named(after));
}

type NamedTls = readonly (readonly [name: string, tls: ReplicaTls])[];

function tlsOfPool({ replicaTls: tls }: Settings): NamedTls {
  return [...(tls?.ofPool ? [["", tls.ofPool] as const] : []), ...(tls?.ofEndpoint ?? [])];
}

const tlsOfPlugins = ({ replicaTls: tls }: Settings): NamedTls => [...(tls?.ofPlugin ?? [])];

/** Pairs have lines of their own. */
function replicaTlsChanges(section: string, before: NamedTls, after: NamedTls): readonly string[] {
  const pairsOf = (all: NamedTls) => all.flatMap(([, { pair }]) => pair ?? []);
  const withoutKeys = (all: NamedTls) => all.map(([name, { pair, ...rest }]) => [name, rest, pair?.certFile]);
  return [
    ...pairChanges(section, pairsOf(before), pairsOf(after)),
    ...(isDeepStrictEqual(withoutKeys(before), withoutKeys(after)) ? [] : [`${section} changed`]),
  ];
}

/** Never shows a token. */
function accessChanges(before: AdminAddress | undefined, after: AdminAddress | undefined): readonly string[] {
  const tokensOf = (admin: AdminAddress | undefined) =>
    admin?.tokens.map(({ name, role, secret }) => [name, role, secret.reveal()]) ?? [];
  const areSameTokens = isDeepStrictEqual(tokensOf(before), tokensOf(after));
  const isReadOnly = after?.isReadOnly ?? false;
  return [
    ...(areSameTokens ? [] : ["admin.tokens changed"]),
    ...((before?.isReadOnly ?? false) === isReadOnly ? [] : [`admin.readOnly: ${isReadOnly}`]),
  ];
}

/** Instances whose parameters come from elsewhere in the config: the change is named there. */
const DERIVED: ReadonlySet<string> = new Set(["static", "model-rewrite", "keys"]);

function instancesOf({ config, definitions }: ShownConfig) {
  const instances = config.plugins.filter(({ name }) => !isOfOther(name));
  return instances.map(({ name, type, from, parameters, secrets, position }: PluginEntry) => {
    const own = position === undefined && DERIVED.has(type) ? undefined : parameters;
    const keys = [...(secrets ?? [])].map(([place, secret]) => [place, secret.reveal()]);
    return { name, type, from, parameters: own, secrets: keys, definition: definitions.get(name) };
  });
}

type Instance = ReturnType<typeof instancesOf>[number];

/** A plugin's file that was loaded anew is another definition, whatever is in it. */
function isSameInstance({ definition, ...one }: Instance, { definition: other, ...another }: Instance): boolean {
  return definition === other && isDeepStrictEqual(one, another);
}

function weightsText(...rules: readonly RewriteRule[]): string {
  return rules.map(({ targets }) => targets.map((target) => `${targetLabel(target)} ${target.weight}`).join(", ")).join(" -> ");
}
