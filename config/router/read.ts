import type { RouterSections } from "../../core/router-config.ts";
import { sectionFeatures } from "../feature.ts";
import { checkAttributes } from "../plugins/attributes.ts";
import type { Registry } from "../plugins/instances.ts";
import type { BrokenEntries, ListedPlugins, RunningPlugins } from "../plugins/listed.ts";
import { type PluginSource, readPlugins } from "../plugins/read.ts";
import type { Resource } from "../read/fit.ts";
import { type Finding, quoted, type Report } from "../read/problems.ts";
import { readAdmin, refuseSharedPort, refuseUnsharablePort } from "./addresses.ts";
import { poolOfFeatures } from "./features.ts";
import { type EndpointEntry, readCredentials, readEndpoints, replicaTlsEntries } from "./pool.ts";
import { type ProfileSource, readProfile, routerProfile } from "./profile.ts";
import { pluginTlsEntries, readReplicaTls } from "./replica-tls.ts";
import type { RouterDocument, RouterSpec } from "./schema.ts";
import { readServerTls } from "./server-tls.ts";
import type { TlsFiles } from "./tls-files.ts";

/** The content of a Router document, without default instances. */
export interface RouterParts {
  readonly config: RouterSections;
  readonly listed: ListedPlugins;
  /** For problems with paths in the document that show only later. */
  readonly report: Report;
  /** False if the pool section has problems, so that its name may be wrong. */
  readonly isPoolKnown: boolean;
}

/** What becomes of an entry of the reference's config. */
export interface EntryEffect {
  readonly effect: "taken over" | "changed" | "no meaning here";
  /** In words, after the effect. */
  readonly why: string;
}

/** The same of one that is not taken as it is. */
export interface EntryNote extends EntryEffect {
  readonly name: string;
}

/** What an EndpointPickerConfig brings, in the router's own terms. */
export interface PickerParts {
  readonly plugins: readonly PluginSource[];
  readonly profile: ProfileSource;
  /** Further ones, by the section that has them below `spec`: "disaggregation.prefill". They are in `features`, too. */
  readonly others: ReadonlyMap<string, ProfileSource>;
  /** Sections of features, for a Router document that does not have them. */
  readonly features: Readonly<Record<string, unknown>>;
  /** Default types that do not run with this document. */
  readonly withoutDefaults: ReadonlySet<string>;
  readonly endpoints: readonly EndpointEntry[];
  /** On entries that are no plugins here. */
  readonly notes: readonly EntryNote[];
  /** True if the list of plugins was left out because of a problem. */
  readonly isBroken: boolean;
}

/**
 * Reads a Router document, together with endpoints from elsewhere and the reference's config if there is one. Adds the files that
 * it refers to to `files`. `hasPools`: its own pool may be empty, because there are others.
 */
export async function readRouter(
  resource: Resource<RouterDocument>,
  registry: Registry,
  moreEndpoints: readonly EndpointEntry[],
  picker: PickerParts | undefined,
  files: Set<string>,
  tlsFiles: TlsFiles,
  running?: RunningPlugins,
  hasPools = false,
): Promise<RouterParts> {
  const { document, report, wasCut } = resource;
  const { spec } = document;
  const sources = (spec.plugins ?? []).map((plugin, index) => ({
    spec: plugin,
    path: ["spec", "plugins", index],
    place: resource,
  }));
  const whole = sources.filter(({ path }) => !wasCut(path));
  const read = await readPlugins([...whole, ...(picker?.plugins ?? [])], registry, files, running);
  checkAttributes(read);
  const listed = { ...read, withoutDefaults: picker?.withoutDefaults ?? new Set<string>() };
  const lost = wasCut(["spec", "plugins"]) ? lostNames(resource, listed) : listed;
  const known = { ...listed, ...lost, hasNamelessBroken: lost.hasNamelessBroken || (picker?.isBroken ?? false) };
  const entries = [...endpointsOf(spec, report), ...moreEndpoints];
  const features = sectionFeatures(registry);
  const found = poolOfFeatures(features, spec);
  const isFeatureCut = features.some(({ section }) => wasCut(["spec", section.key]));
  const isFoundElsewhere = found !== undefined || isFeatureCut || wasCut(["spec", "pool", "endpoints"]);
  if (entries.length === 0 && !isFoundElsewhere && !hasPools) refuseEmptyPool(known, report);
  const endpoints = readEndpoints(entries);
  const { cors, tls: written, ...address } = spec.listen;
  const tls = await readServerTls(written, ["spec", "listen", "tls"], resource, tlsFiles, files);
  const listen = { ...address, ...(tls && { tls }) };
  const admin = await readAdmin(spec.admin, resource, tlsFiles, files);
  if (admin !== undefined && !wasCut(["spec", "listen"]) && !wasCut(["spec", "admin"])) refuseSharedPort(listen, admin, report);
  refuseUnsharablePort("listen", listen, report);
  refuseUnsharablePort("admin", admin, report);
  if (picker !== undefined && spec.profiles !== undefined) report(["spec", "profiles"], PROFILES_TWICE, "key");
  const { pool, limits, retries, forwardedFor, responseHeaders: hasRoutingHeaders } = spec;
  const credentials = await readCredentials(pool, endpoints, resource, files);
  const tlsEntries = [...replicaTlsEntries(pool, endpoints, resource), ...pluginTlsEntries(known)];
  const replicaTls = await readReplicaTls(tlsEntries, tlsFiles, files);
  const { unlisted, byClients: adaptersByClients } = pool.adapters;
  const config = {
    listen,
    admin,
    pool: {
      name: poolName(pool.name, found, report),
      endpoints: endpoints.map((one) => one.spec),
      probes: pool.probes,
      ...(pool.roles && { roles: pool.roles }),
    },
    profile: readProfile(picker?.profile ?? profileOf(spec, report), known, registry),
    settings: { limits, retries, unlisted, adaptersByClients, forwardedFor, credentials, replicaTls, cors, hasRoutingHeaders },
  };
  const isPoolKnown = !wasCut(["spec", "pool", "name"]) && (pool.name !== undefined || !isFeatureCut);
  return { config, listed: known, report, isPoolKnown };
}

/** A pool that a feature finds is called as it is there: documents that are written for it must mean this one. */
function poolName(written: string | undefined, found: ReturnType<typeof poolOfFeatures>, report: Report): string {
  const foundName = found?.name;
  if (written !== undefined && foundName !== undefined && written !== foundName)
    report(["spec", "pool", "name"], {
      found: `${quoted(written)} beside the pool ${quoted(foundName)} of spec.${found?.key}`,
      wanted: "the same name, or none here",
    });
  return written ?? foundName ?? "default";
}

/** The names of entries in `plugins` with problems; any name if one of them has none that can be read. */
function lostNames(
  { document, wasCut }: Resource<RouterDocument>,
  { brokenNames, hasNamelessBroken }: ListedPlugins,
): BrokenEntries {
  const { plugins } = document.spec;
  const lost = (plugins ?? []).flatMap(({ name, type }, index) => {
    const path = ["spec", "plugins", index];
    return wasCut(path) ? [wasCut([...path, "name"]) ? undefined : (name ?? type)] : [];
  });
  const names = lost.filter((name) => name !== undefined);
  return {
    brokenNames: new Set([...brokenNames, ...names]),
    hasNamelessBroken: hasNamelessBroken || plugins === undefined || names.length < lost.length,
  };
}

function profileOf({ profiles = [] }: RouterSpec, report: Report): ProfileSource {
  if (profiles.length > 1) report(["spec", "profiles", 1], { found: `${profiles.length} profiles`, wanted: "exactly one" });
  return routerProfile(profiles[0], ["spec", "profiles", 0], report);
}

const PROFILES_TWICE: Finding = {
  found: "profiles beside those of an EndpointPickerConfig",
  wanted: "schedulingProfiles there, or profiles here",
};

function endpointsOf({ pool }: RouterSpec, report: Report): readonly EndpointEntry[] {
  return pool.endpoints.map((spec, index) => ({
    spec,
    report: (path, finding, part) => report(["spec", "pool", "endpoints", index, ...path], finding, part),
  }));
}

function refuseEmptyPool({ instances, hasNamelessBroken, brokenNames }: ListedPlugins, report: Report): void {
  const hasDiscovery = [...instances.values()].some(({ definition }) => definition.kind === "discovery");
  if (hasDiscovery || hasNamelessBroken || brokenNames.size > 0) return;
  report(["spec", "pool", "endpoints"], { found: "no endpoints", wanted: "at least one, such as { url: http://gpu1:8000 }" });
}
