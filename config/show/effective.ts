import type { Secret } from "../../core/contract/secret.ts";
import type { AdminAddress, ListenAddress, RouterConfig } from "../../core/router-config.ts";
import { PROBE } from "../../core/settings/tables.ts";
import type { CorsSettings, ReplicaTls, ServerTls } from "../../core/settings.ts";
import type { LoadedConfig } from "../load.ts";
import { configuredBy } from "../plugins/defaults.ts";
import { isOfOther } from "../plugins/own-instances.ts";
import { type Path, pathText, placeText } from "../read/problems.ts";
import { isSoleToken } from "../router/addresses.ts";
import { missingFilters } from "../router/profile.ts";
import { writtenOf } from "../schema/section.ts";

/** A config as it runs, in the form of its documents, and where each value comes from. Plain data without secrets. */
export interface EffectiveConfig {
  readonly router: { readonly apiVersion: string; readonly kind: "Router"; readonly spec: Readonly<Record<string, unknown>> };
  /** By path in the Router document, such as "spec.listen.port": file:line:column, "default", or where else it comes from. */
  readonly origins: Readonly<Record<string, string>>;
}

/** Which addresses the command line sets instead of the files. */
export interface CommandLine {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly adminPort?: number | undefined;
}

/** The Router document with every default filled in. */
export function effectiveConfig(loaded: LoadedConfig, commandLine: CommandLine): EffectiveConfig {
  const { config, definitions } = loaded;
  const { profile, settings } = config;
  const { limits, retries, forwardedFor, hasRoutingHeaders } = settings;
  const plugins = config.plugins.filter(({ name }) => configuredBy(definitions.get(name)!) === "" && !isOfOther(name));
  const spec = {
    listen: { ...addressOf(config.listen), ...(settings.cors && { cors: corsOf(settings.cors) }) },
    admin: config.admin === undefined ? false : adminOf(config.admin),
    pool: poolOf(config),
    plugins: plugins.map(({ name, type, from, parameters }) => {
      return { name, ...(from === undefined ? { type } : { from }), parameters: masked(parameters) };
    }),
    profiles: [missingFilters(profile, definitions).length === 0 ? profile : { ...profile, unguarded: true }],
    ...featuresOf(loaded),
    retries,
    forwardedFor,
    limits,
    responseHeaders: hasRoutingHeaders,
  };
  const fromCommandLine = new Map<string, unknown>([
    ["spec.listen.host", commandLine.host],
    ["spec.listen.port", commandLine.port],
    ["spec.admin.port", commandLine.adminPort],
  ]);
  const originOf = (path: Path): string => {
    if (fromCommandLine.get(pathText(path)) !== undefined) return "the command line";
    const [, section, index] = path;
    if (loaded.pickedSections.has(String(section))) return "the EndpointPickerConfig";
    if (section === "plugins") return placeText(plugins[Number(index)]?.position) ?? "default";
    // The default filters stand in front of what is written, so places in the two lists differ: the whole list has one origin.
    const other = [3, 4].find((end) => config.others.has(path.slice(1, end - 1).join("."))) ?? 0;
    const list = path.slice(0, section === "profiles" ? 4 : other);
    if (list.at(-1) === "plugins" && isWritten(loaded, list)) return placeText(loaded.positionOf(list)) ?? "default";
    const otherwise = section === "pool" && path[2] === "endpoints" ? "outside of the Router document" : "default";
    return (isWritten(loaded, path) ? placeText(loaded.positionOf(path)) : undefined) ?? otherwise;
  };
  const origins = Object.fromEntries(leavesOf(spec, ["spec"]).map((path) => [pathText(path), originOf(path)]));
  return { router: { apiVersion: "signalbox/v1", kind: "Router", spec }, origins };
}

/** What is not in the document has the position of its deepest ancestor that is. */
function isWritten({ positionOf }: LoadedConfig, path: Path): boolean {
  const own = positionOf(path);
  const parent = positionOf(path.slice(0, -1));
  return own.line !== parent.line || own.column !== parent.column;
}

/** Paths of single values and of lists of them. */
function leavesOf(value: unknown, path: Path): readonly Path[] {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [path];
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return [path];
  const entries: Iterable<readonly [string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...entries].flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

function addressOf({ host, port, isPortShared, tls }: ListenAddress) {
  return { host, port, reusePort: isPortShared, ...(tls && { tls: tlsOf(tls) }) };
}

function tlsOf({ pairs, clientCa, minVersion }: ServerTls) {
  const [first, ...sni] = pairs.map(({ certFile, keyFile, names }) => ({ certFile, keyFile, names }));
  const { certFile, keyFile } = first ?? {};
  return { certFile, keyFile, ...(clientCa && { clientCaFile: clientCa.file }), minVersion, ...(sni.length > 0 && { sni }) };
}

function adminOf({ hosts, tokens, isReadOnly, ...address }: AdminAddress) {
  const sole = tokens.find(isSoleToken);
  const listed = tokens.filter((token) => token !== sole).map(({ name, role, secret }) => ({ name, role, token: secret.from }));
  return {
    ...addressOf(address),
    hosts,
    ...(sole && { token: sole.secret.from }),
    ...(listed.length > 0 && { tokens: listed }),
    readOnly: isReadOnly,
  };
}

/** The sections of the features that have something to say. */
function featuresOf({ config, definitions, sections }: LoadedConfig): Readonly<Record<string, unknown>> {
  const written = sections.map(({ section }) => {
    const isUnguarded = (path: string) => missingFilters(config.others.get(path)!, definitions).length > 0;
    return [section.key, section.written(config.features.get(section.key), isUnguarded)] as const;
  });
  return Object.fromEntries(written.filter(([, value]) => value !== undefined));
}

function corsOf({ origins, headers, maxAgeS }: CorsSettings) {
  return { origins: origins === undefined ? ["*"] : [...origins], ...(headers && { headers }), maxAgeS };
}

function replicaTlsOf(tls: ReplicaTls | undefined) {
  if (tls === undefined) return undefined;
  const { authorities, serverName, pair, isInsecure: insecure } = tls;
  const { certFile, keyFile } = pair ?? {};
  const said = { caFile: authorities?.file, serverName, certFile, keyFile, insecure };
  return { tls: Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) };
}

function poolOf({ pool, settings: { credentials, replicaTls, unlisted, adaptersByClients } }: RouterConfig) {
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
