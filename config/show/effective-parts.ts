import type { Secret } from "../../core/contract/secret.ts";
import type { Position, RouterConfig, RouterPlan } from "../../core/router-config.ts";
import { PROBE } from "../../core/settings/tables.ts";
import type { ReplicaTls } from "../../core/settings.ts";
import type { SectionFeature } from "../feature.ts";
import { configuredBy } from "../plugins/defaults.ts";
import { isOfOther } from "../plugins/own-instances.ts";
import type { Path } from "../read/problems.ts";
import { missingFilters } from "../router/profile.ts";
import { writtenOf } from "../schema/section.ts";

// What the Router document and Pool documents have alike, as they run.

type Shown = Pick<RouterPlan, "config" | "definitions">;

/** The plugins that are listed, or run by default. */
export function pluginsOf({ config, definitions }: Shown): RouterConfig["plugins"] {
  return config.plugins.filter(({ name }) => configuredBy(definitions.get(name)!) === "" && !isOfOther(name));
}

export function shownPlugins(plugins: RouterConfig["plugins"]) {
  return plugins.map(({ name, type, from, parameters }) => {
    return { name, ...(from === undefined ? { type } : { from }), parameters: masked(parameters) };
  });
}

export function profilesOf({ config: { profile }, definitions }: Shown) {
  return [missingFilters(profile, definitions).length === 0 ? profile : { ...profile, unguarded: true }];
}

/** What is not in the document has the position of its deepest ancestor that is. */
export function isWritten(positionOf: (path: Path) => Position, path: Path): boolean {
  const own = positionOf(path);
  const parent = positionOf(path.slice(0, -1));
  return own.line !== parent.line || own.column !== parent.column;
}

/** Paths of single values and of lists of them. */
export function leavesOf(value: unknown, path: Path): readonly Path[] {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [path];
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return [path];
  const entries: Iterable<readonly [string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...entries].flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

/** The sections of the features that have something to say. */
export function featuresOf(
  { config, definitions }: Shown,
  sections: readonly SectionFeature[],
): Readonly<Record<string, unknown>> {
  const written = sections.map(({ section }) => {
    const isUnguarded = (path: string) => missingFilters(config.others.get(path)!, definitions).length > 0;
    return [section.key, section.written(config.features.get(section.key), isUnguarded)] as const;
  });
  return Object.fromEntries(written.filter(([, value]) => value !== undefined));
}

function replicaTlsOf(tls: ReplicaTls | undefined) {
  if (tls === undefined) return undefined;
  const { authorities, serverName, pair, isInsecure: insecure } = tls;
  const { certFile, keyFile } = pair ?? {};
  const said = { caFile: authorities?.file, serverName, certFile, keyFile, insecure };
  return { tls: Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) };
}

export function poolOf({ pool, settings: { credentials, replicaTls, unlisted, adaptersByClients } }: RouterConfig) {
  const authOf = (secret: Secret | undefined) => secret && { auth: { bearer: secret.from } };
  return {
    name: pool.name,
    endpoints: pool.endpoints.map((endpoint) => ({
      ...endpoint,
      ...authOf(credentials?.ofEndpoint.get(endpoint.name)),
      ...replicaTlsOf(replicaTls?.ofEndpoint.get(endpoint.name)),
    })),
    ...authOf(credentials?.ofPool),
    ...replicaTlsOf(replicaTls?.ofPool),
    forwardCredentials: credentials?.isForwarded ?? true,
    probes: Object.fromEntries(Object.entries(pool.probes).map(([name, probe]) => [name, writtenOf(PROBE, probe)])),
    ...(pool.roles && { roles: pool.roles }),
    adapters: { unlisted, byClients: adaptersByClients },
  };
}

const HIDDEN = "(hidden)";
const SECRET_KEY = /token$|secret|password|passwd|credential|api[-_]?key|authorization/i;

/** Parameters as plain data; texts under keys that sound like secrets, and the values of headers, are replaced. */
function masked(parameters: unknown): unknown {
  const text = JSON.stringify(parameters, (key, value: unknown) => {
    if (key === "headers" && typeof value === "object" && value !== null && !Array.isArray(value))
      return Object.fromEntries(Object.keys(value).map((name) => [name, HIDDEN]));
    return typeof value === "string" && SECRET_KEY.test(key) ? HIDDEN : value;
  });
  return text === undefined ? {} : JSON.parse(text);
}
