import { obstacleToSharedPorts, PORT_SHARERS } from "../core/runtime/shared-port.ts";
import {
  type CorsSettings,
  DEFAULT_CORS_MAX_AGE_S,
  DEFAULT_EJECTION,
  DEFAULT_KEEP_ALIVE_MS,
  DEFAULT_LIMITS,
  DEFAULT_RETRIES,
  DEFAULT_SETTINGS,
  type EjectionSettings,
  type KeepAliveSettings,
} from "../core/settings.ts";
import type { AdminAddress, ListenAddress, RouterConfig } from "./config.ts";
import { readCredentials } from "./credentials.ts";
import { DEFAULT_ADMIN, DEFAULT_LISTEN } from "./defaults.ts";
import type { PickerParts } from "./endpoint-picker/read.ts";
import type { Resource } from "./fit.ts";
import type { ListedPlugins, Registry } from "./instances.ts";
import { readMirrors } from "./mirrors.ts";
import { readPlugins } from "./plugins.ts";
import { type EndpointEntry, readEndpoints, readProbes } from "./pool.ts";
import type { Report } from "./problems.ts";
import { type ProfileSource, ROUTER_DEFAULTS, readProfile } from "./profile.ts";
import type {
  AddressSpec,
  AdminAddressSpec,
  EjectionSpec,
  KeepAliveSpec,
  ListenSpec,
  RouterDocument,
  RouterSpec,
} from "./schema.ts";
import { readSecret } from "./secret.ts";
import { readShadow, refuseShadowAlone } from "./shadow.ts";

/** The content of a Router document, without default instances. */
export interface RouterParts {
  readonly config: Omit<RouterConfig, "plugins" | "rewrites" | "guards">;
  readonly listed: ListedPlugins;
  /** For problems with paths in the document that show only later. */
  readonly report: Report;
  /** False if the pool section has problems, so that its name may be wrong. */
  readonly isPoolKnown: boolean;
}

/**
 * Reads a Router document, together with endpoints from elsewhere and the reference's config if there is one. Adds the files that
 * it refers to to `files`.
 */
export async function readRouter(
  resource: Resource<RouterDocument>,
  registry: Registry,
  moreEndpoints: readonly EndpointEntry[],
  picker: PickerParts | undefined,
  files: Set<string>,
): Promise<RouterParts> {
  const { document, report, wasCut } = resource;
  const { spec } = document;
  const sources = (spec.plugins ?? [])
    .map((plugin, index) => ({ spec: plugin, path: ["spec", "plugins", index], place: resource }))
    .filter(({ path }) => !wasCut(path));
  const read = await readPlugins([...sources, ...(picker?.plugins ?? [])], registry, files);
  const listed = { ...read, withoutDefaults: picker?.withoutDefaults ?? new Set<string>() };
  const lost = wasCut(["spec", "plugins"]) ? lostNames(resource, listed) : listed;
  const known = { ...listed, ...lost, hasNamelessBroken: lost.hasNamelessBroken || (picker?.isBroken ?? false) };
  const entries = [...endpointsOf(spec, report), ...moreEndpoints];
  if (entries.length === 0 && !wasCut(["spec", "pool", "endpoints"])) refuseEmptyPool(known, report);
  const endpoints = readEndpoints(entries);
  const listen = readAddress(spec.listen, DEFAULT_LISTEN);
  const admin = spec.admin === false ? undefined : await readAdmin(spec.admin, resource, files);
  if (admin !== undefined && !wasCut(["spec", "listen"]) && !wasCut(["spec", "admin"])) refuseSharedPort(listen, admin, report);
  refuseUnsharablePort("listen", listen, report);
  if (admin !== undefined) refuseUnsharablePort("admin", admin, report);
  if (picker !== undefined && spec.profiles !== undefined) refuseProfilesTwice(report);
  if (picker === undefined) refuseShadowAlone(spec, known, report);
  const config = {
    listen,
    admin,
    pool: {
      name: spec.pool?.name ?? "default",
      endpoints: endpoints.map((one) => one.spec),
      probes: readProbes(spec.pool?.probes),
    },
    profile: readProfile(picker?.profile ?? profileOf(spec, report), known, registry),
    shadow: spec.shadow && readShadow(spec.shadow, known, registry, report),
    settings: {
      limits: { ...DEFAULT_LIMITS, ...spec.limits },
      ejection: readEjection(spec.ejection),
      retries: { ...DEFAULT_RETRIES, ...spec.retries },
      unlisted: spec.pool?.adapters?.unlisted ?? DEFAULT_SETTINGS.unlisted,
      keepAlive: readKeepAlive(spec.keepAlive),
      forwardedFor: spec.forwardedFor ?? DEFAULT_SETTINGS.forwardedFor,
      credentials: await readCredentials(resource, endpoints, files),
      cors: readCors(spec.listen),
      hasRoutingHeaders: spec.responseHeaders ?? true,
      mirrors: readMirrors(spec.mirrors),
    },
  };
  return { config, listed: known, report, isPoolKnown: !wasCut(["spec", "pool", "name"]) };
}

/** The names of entries in `plugins` with problems; any name if one of them has none that can be read. */
function lostNames(
  { document, wasCut }: Resource<RouterDocument>,
  { brokenNames, hasNamelessBroken }: ListedPlugins,
): Pick<ListedPlugins, "brokenNames" | "hasNamelessBroken"> {
  const { plugins } = document.spec;
  const lost = (plugins ?? []).flatMap(({ name, type }, index) => {
    const path = ["spec", "plugins", index];
    if (!wasCut(path)) return [];
    return [wasCut([...path, "name"]) ? undefined : (name ?? type)];
  });
  const names = lost.filter((name) => name !== undefined);
  return {
    brokenNames: new Set([...brokenNames, ...names]),
    hasNamelessBroken: hasNamelessBroken || plugins === undefined || names.length < lost.length,
  };
}

function readEjection(spec: EjectionSpec): EjectionSettings {
  if (spec === false) return { ...DEFAULT_EJECTION, isOn: false };
  const { baseSeconds, maxSeconds, ...others } = spec ?? {};
  return {
    ...DEFAULT_EJECTION,
    ...others,
    ...(baseSeconds !== undefined && { baseMs: baseSeconds * 1000 }),
    ...(maxSeconds !== undefined && { maxMs: maxSeconds * 1000 }),
  };
}

function readKeepAlive(spec: KeepAliveSpec): KeepAliveSettings | undefined {
  if (spec === undefined) return undefined;
  const { periodSeconds, paths } = spec;
  return { periodMs: periodSeconds === undefined ? DEFAULT_KEEP_ALIVE_MS : periodSeconds * 1000, paths };
}

function readCors(spec: ListenSpec | undefined): CorsSettings | undefined {
  if (spec?.cors === undefined) return undefined;
  const { origins, headers, maxAgeS = DEFAULT_CORS_MAX_AGE_S } = spec.cors;
  return { origins: origins.includes("*") ? undefined : new Set(origins), headers, maxAgeS };
}

function profileOf({ profiles = [] }: RouterSpec, report: Report): ProfileSource {
  if (profiles.length > 1) report(["spec", "profiles", 1], { found: `${profiles.length} profiles`, wanted: "exactly one" });
  const [profile] = profiles;
  const refs = (profile?.plugins ?? []).map(({ pluginRef, weight }, index) => ({
    pluginRef,
    weight,
    path: ["spec", "profiles", 0, "plugins", index],
  }));
  return {
    profile: profile && { name: profile.name, refs, isUnguarded: profile.unguarded ?? false },
    report,
    pluginsAt: "spec.plugins",
    defaults: ROUTER_DEFAULTS,
  };
}

function refuseProfilesTwice(report: Report): void {
  report(
    ["spec", "profiles"],
    { found: "profiles beside those of an EndpointPickerConfig", wanted: "schedulingProfiles there, or profiles here" },
    "key",
  );
}

function endpointsOf(spec: RouterSpec, report: Report): readonly EndpointEntry[] {
  return (spec.pool?.endpoints ?? []).map(({ auth, ...endpoint }, index) => ({
    spec: endpoint,
    auth,
    report: (path, finding, part) => report(["spec", "pool", "endpoints", index, ...path], finding, part),
  }));
}

function refuseEmptyPool({ instances, hasNamelessBroken, brokenNames }: ListedPlugins, report: Report): void {
  const hasDiscovery = [...instances.values()].some(({ definition }) => definition.kind === "discovery");
  if (hasDiscovery || hasNamelessBroken || brokenNames.size > 0) return;
  report(["spec", "pool", "endpoints"], { found: "no endpoints", wanted: "at least one, such as { url: http://gpu1:8000 }" });
}

function readAddress(spec: AddressSpec | undefined, defaults: ListenAddress): ListenAddress {
  return {
    host: spec?.host ?? defaults.host,
    port: spec?.port ?? defaults.port,
    isPortShared: spec?.reusePort ?? defaults.isPortShared,
  };
}

async function readAdmin(
  spec: AdminAddressSpec | undefined,
  resource: Pick<Resource<unknown>, "file" | "report">,
  files: Set<string>,
): Promise<AdminAddress> {
  const token = spec?.token === undefined ? undefined : await readSecret(spec.token, ["spec", "admin", "token"], resource, files);
  return { ...readAddress(spec, DEFAULT_ADMIN), hosts: spec?.hosts ?? [], token, isReadOnly: spec?.readOnly ?? false };
}

const EVERY_NETWORK = new Set(["0.0.0.0", "::"]);

function refuseUnsharablePort(part: "listen" | "admin", { isPortShared }: ListenAddress, report: Report): void {
  const obstacle = isPortShared ? obstacleToSharedPorts() : "";
  if (obstacle === "") return;
  report(["spec", part, "reusePort"], { found: `reusePort: true, but ${obstacle}`, wanted: PORT_SHARERS });
}

function refuseSharedPort(listen: ListenAddress, admin: ListenAddress, report: Report): void {
  const isSameHost = listen.host === admin.host || EVERY_NETWORK.has(listen.host) || EVERY_NETWORK.has(admin.host);
  if (listen.port !== admin.port || listen.port === 0 || !isSameHost) return;
  report(["spec", "admin", "port"], {
    found: `port ${admin.port} for admin as well as for listen`,
    wanted: "a port of its own, or admin: false",
  });
}
