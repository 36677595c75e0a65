import { isOwnKind } from "../../core/contract/kinds.ts";
import type { PluginKind } from "../../core/contract/plugin.ts";
import type { PoolPlan } from "../../core/router-config.ts";
import type { FeatureConfigs } from "../../core/settings.ts";
import { type SectionFeature, sectionFeatures } from "../feature.ts";
import type { Registry } from "../plugins/instances.ts";
import type { Instance, ListedPlugins, RunningPlugins } from "../plugins/listed.ts";
import { unmetNeeds } from "../plugins/unmet-needs.ts";
import type { ConfigDocument } from "../read/documents.ts";
import { folderOf } from "../read/files.ts";
import { fit, type Resource } from "../read/fit.ts";
import { quoted } from "../read/problems.ts";
import { settingsWith } from "../router/features.ts";
import { type RouterParts, readRouter } from "../router/read.ts";
import { type RouterDocument, routerDocument } from "../router/schema.ts";
import { type Beside, readSections, settledPlan } from "../router/settled.ts";
import type { TlsFiles } from "../router/tls-files.ts";
import { checkPools, type ReadPool } from "./check-pools.ts";
import { mergedDocument } from "./merged-document.ts";
import { FALLBACK_KEY, type PoolDocument, type PoolsConfig, poolDocument } from "./schema.ts";

/** Kinds of plugins that each pool has for itself; those of all other kinds serve the whole router. */
const KINDS: ReadonlySet<PluginKind> = new Set([
  ...(["filter", "scorer", "picker", "admission", "discovery", "source", "detector"] as const),
]);

/** Each has tables of its own, also where it has no replica. */
const MOST_POOLS = 64;

const isOfPools = (kind: PluginKind) => KINDS.has(kind) || isOwnKind(kind);

/**
 * Reads a Pool document: the sections that it has, and those of the Router document in place of the others, are one Router document of
 * its own. Undefined if it has problems, which are reported. `running`: the pools of the config that runs.
 */
async function readPool(
  document: ConfigDocument,
  router: ConfigDocument | undefined,
  beside: Beside,
  tlsFiles: TlsFiles,
  running: readonly PoolPlan[] | undefined,
): Promise<ReadPool | undefined> {
  const { registry, problems, files } = beside;
  const problemsBefore = problems.length;
  const resource = fit(document, poolDocument(registry));
  if (resource === undefined || problems.length > problemsBefore) return undefined;
  const { name } = resource.document.metadata;
  refuseFarPlugins(resource, router);
  const merged = fit(mergedDocument(document, router, name, sectionFeatures(registry)), routerDocument(registry));
  if (merged === undefined) return undefined;
  const plugins = running?.find((pool) => pool.name === name)?.plan;
  const parts = await readRouter(merged, registry, [], undefined, files, tlsFiles, plugins);
  if (resource.document.spec.plugins !== undefined) refuseOtherKinds(parts.listed, merged);
  const listed = ofPools(parts.listed);
  const sections = beside.sections.filter(({ section }) => section.inPools !== undefined);
  const ofPool = { ...beside, sections };
  const read = await readSections(merged, { ...parts, listed }, ofPool);
  if (problems.length > problemsBefore) return undefined;
  return { pool: planOf(resource, merged, { ...parts, listed }, read, ofPool), resource };
}

function planOf(
  { document: { metadata, spec } }: Resource<PoolDocument>,
  merged: Resource<RouterDocument>,
  parts: Parameters<typeof settledPlan>[1],
  read: Parameters<typeof settledPlan>[2],
  beside: Beside,
): PoolPlan {
  const { models = [], headers = {}, keys = [], fallback = [] } = spec;
  const takes = ({ definition }: Instance) => isOfPools(definition.kind);
  const { instances, ...plan } = settledPlan(merged, parts, read, beside, [], takes);
  beside.warnings.push(...unmetNeeds(plan.config, instances, metadata.name));
  const lower = Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values] as const);
  return { name: metadata.name, models, headers: new Map(lower), keys, fallback, plan };
}

function ofPools(listed: ListedPlugins): ListedPlugins {
  const instances = [...listed.instances].filter(([, { definition }]) => isOfPools(definition.kind));
  return { ...listed, instances: new Map(instances) };
}

/** Paths in the Router document's plugins begin at its folder. */
function refuseFarPlugins({ document, file, report }: Resource<PoolDocument>, router: ConfigDocument | undefined): void {
  const plugins = (router?.value as { readonly spec?: { readonly plugins?: readonly unknown[] } } | undefined)?.spec?.plugins;
  if (!plugins?.length || document.spec.plugins !== undefined || folderOf(router!.file) === folderOf(file)) return;
  const found = `no plugins of its own, and a Router document with plugins in another folder (${router!.file})`;
  report(["metadata", "name"], {
    found,
    wanted: "spec.plugins here too, or both files in one folder: paths in plugins begin there",
  });
}

function refuseWithoutFeature({ report }: ConfigDocument, registry: Registry): void {
  if (sectionFeatures(registry).some(({ section }) => section.key === FALLBACK_KEY)) return;
  report(["kind"], { found: "a Pool document, and no feature that runs pools", wanted: "the feature pools among the plugins" });
}

function refuseOtherKinds({ instances }: ListedPlugins, { report }: Resource<RouterDocument>): void {
  for (const { entry, definition, path } of instances.values()) {
    if (isOfPools(definition.kind)) continue;
    const found = `the ${definition.kind} ${quoted(entry.name)} in a Pool`;
    report(path, { found, wanted: `it in spec.plugins of the Router document, since it is for the requests of all pools` });
  }
}

/**
 * The pools of these documents, in their order. `running` is the config that runs: for a change beside the files, its plugins' modules
 * are taken.
 */
export async function readPools(
  documents: readonly ConfigDocument[],
  router: ConfigDocument | undefined,
  own: RouterParts,
  beside: Beside,
  tlsFiles: TlsFiles,
  running: RunningPlugins | undefined,
): Promise<readonly PoolPlan[]> {
  // What is wrong in the Router document would be told again for each pool.
  if (documents.length === 0 || beside.problems.length > 0) return [];
  refuseWithoutFeature(documents[0]!, beside.registry);
  const excess = documents[MOST_POOLS];
  if (excess !== undefined) {
    excess.report(["kind"], { found: `${documents.length} Pool documents`, wanted: `at most ${MOST_POOLS}` });
    return [];
  }
  const pools: ReadPool[] = [];
  for (const document of documents) {
    const read = await readPool(document, router, beside, tlsFiles, running?.pools);
    if (read !== undefined) pools.push(read);
  }
  checkPools(pools, own.config.pool);
  return pools.map(({ pool }) => pool);
}

/** The pools of a config that was read. */
export function poolsOf(features: FeatureConfigs): readonly PoolPlan[] {
  return (features.get(FALLBACK_KEY) as PoolsConfig | undefined)?.pools ?? [];
}

/** The features' sections, where what the Router document's sections change of the settings is changed in the pools, too. */
export function withRouterSettings(sections: readonly SectionFeature[], features: FeatureConfigs): FeatureConfigs {
  const config = features.get(FALLBACK_KEY) as PoolsConfig | undefined;
  if (config === undefined || config.pools.length === 0) return features;
  const pools = config.pools.map((pool) => {
    const settings = settingsWith(sections, features, pool.plan.config.settings);
    return { ...pool, plan: { ...pool.plan, config: { ...pool.plan.config, settings } } };
  });
  return new Map([...features, [FALLBACK_KEY, { ...config, pools }]]);
}
