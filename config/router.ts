import { DEFAULT_LIMITS } from "../core/settings.ts";
import type { Address, RouterConfig } from "./config.ts";
import { DEFAULT_ADMIN, DEFAULT_LISTEN } from "./defaults.ts";
import type { ListedPlugins, Registry } from "./instances.ts";
import { readPlugins } from "./plugins.ts";
import { type EndpointEntry, readEndpoints, readProbes } from "./pool.ts";
import type { Complain } from "./problems.ts";
import { readProfile } from "./profile.ts";
import type { Resource } from "./resources.ts";
import type { AddressSpec, RouterDocument, RouterSpec } from "./schema.ts";

/** What a Router document says, apart from the instances that run by default. */
export interface RouterParts {
  readonly config: Omit<RouterConfig, "plugins" | "rewrites">;
  readonly listed: ListedPlugins;
  /** False when the pool section has a problem, so that its name may not be what was meant. */
  readonly isPoolKnown: boolean;
}

/** Reads a Router document together with endpoints that come from elsewhere. */
export async function readRouter(
  resource: Resource<RouterDocument>,
  registry: Registry,
  moreEndpoints: readonly EndpointEntry[],
): Promise<RouterParts> {
  const { document, complain, broken } = resource;
  const { spec } = document;
  const listed = await readPlugins(spec.plugins ?? [], registry, resource);
  const known = broken.has("plugins") ? { ...listed, hasNamelessBroken: true } : listed;
  const endpoints = [...endpointsOf(spec, complain), ...moreEndpoints];
  if (endpoints.length === 0 && !broken.has("pool")) refuseEmptyPool(known, complain);
  const listen = readAddress(spec.listen, DEFAULT_LISTEN);
  const admin = spec.admin === false ? undefined : readAddress(spec.admin, DEFAULT_ADMIN);
  if (admin !== undefined) refuseSharedPort(listen, admin, complain);
  const config = {
    listen,
    admin,
    pool: { name: spec.pool?.name ?? "default", endpoints: readEndpoints(endpoints), probes: readProbes(spec.pool?.probes) },
    profile: readProfile(spec.profiles ?? [], { listed: known, registry, complain }),
    settings: { limits: { ...DEFAULT_LIMITS, ...spec.limits }, hasRoutingHeaders: spec.responseHeaders ?? true },
  };
  return { config, listed, isPoolKnown: !broken.has("pool") };
}

function endpointsOf(spec: RouterSpec, complain: Complain): readonly EndpointEntry[] {
  return (spec.pool?.endpoints ?? []).map((endpoint, index) => ({
    spec: endpoint,
    complain: (path, finding, part) => complain(["spec", "pool", "endpoints", index, ...path], finding, part),
  }));
}

function refuseEmptyPool({ instances, hasNamelessBroken, brokenNames }: ListedPlugins, complain: Complain): void {
  const hasDiscovery = [...instances.values()].some(({ definition }) => definition.kind === "discovery");
  if (hasDiscovery || hasNamelessBroken || brokenNames.size > 0) return;
  complain(["spec", "pool", "endpoints"], { found: "no endpoints", wanted: "at least one, such as { url: http://gpu1:8000 }" });
}

function readAddress(spec: AddressSpec | undefined, defaults: Address): Address {
  return { host: spec?.host ?? defaults.host, port: spec?.port ?? defaults.port };
}

const EVERY_NETWORK = new Set(["0.0.0.0", "::"]);

function refuseSharedPort(listen: Address, admin: Address, complain: Complain): void {
  const isSameHost = listen.host === admin.host || EVERY_NETWORK.has(listen.host) || EVERY_NETWORK.has(admin.host);
  if (listen.port !== admin.port || listen.port === 0 || !isSameHost) return;
  complain(["spec", "admin", "port"], {
    found: `port ${admin.port} for admin as well as for listen`,
    wanted: "a port of its own, or admin: false",
  });
}
