import type { PoolPlan, Position, RouterConfig, RouterPlan } from "../core/router-config.ts";
import { checkSchemes, notesOn } from "./endpoint-picker/notes.ts";
import { readPicker } from "./endpoint-picker/read.ts";
import { pickerDocument } from "./endpoint-picker/schema.ts";
import { type SectionFeature, sectionFeatures } from "./feature.ts";
import { readObjectives } from "./objectives/read.ts";
import { objectiveDocument } from "./objectives/schema.ts";
import { hiddenRoutes } from "./plugins/hidden-routes.ts";
import { type Registry, unusedPlugins } from "./plugins/instances.ts";
import type { RunningPlugins } from "./plugins/listed.ts";
import { unmetNeeds } from "./plugins/unmet-needs.ts";
import { poolsOf, readPools, withRouterSettings } from "./pools/read.ts";
import { type ConfigDocument, documentsOf } from "./read/documents.ts";
import { type ConfigText, readFiles } from "./read/files.ts";
import { fit, type Resource, type Stubs } from "./read/fit.ts";
import { sortByKind } from "./read/kinds.ts";
import { allOf, inReadingOrder, type Path, type Problem, problemAt } from "./read/problems.ts";
import { NO_OVERLAY, type Overlay, overlaid } from "./rewrites/overlay.ts";
import { isAboutPool } from "./rewrites/pool-resources.ts";
import { inMatchingOrder, readRules } from "./rewrites/read.ts";
import { rewriteDocument } from "./rewrites/schema.ts";
import { otherProfiles } from "./router/features.ts";
import type { EndpointEntry } from "./router/pool.ts";
import { type PickerParts, readRouter } from "./router/read.ts";
import { withResource } from "./router/resource.ts";
import { type RouterDocument, routerDocument } from "./router/schema.ts";
import { readSections, settledPlan } from "./router/settled.ts";
import { TlsFiles } from "./router/tls-files.ts";

/** A valid config, with the type of each of its instances. */
export interface LoadedConfig extends RouterPlan {
  readonly sections: readonly SectionFeature[];
  /** What becomes of entries and parameters in an EndpointPickerConfig that are not taken as they are. */
  readonly notes: PickerParts["notes"];
  /** The sections of the spec that an EndpointPickerConfig brings. */
  readonly pickedSections: ReadonlySet<string>;
  /** What it was read from. */
  readonly texts: readonly ConfigText[];
  /** The cluster's resources that are about other pools: they are not among the texts. */
  readonly elsewhere: ReadonlySet<string>;
  /** Of the Pool documents. */
  readonly pools: readonly PoolPlan[];
  /** Further files that it depends on, absolute: of plugins and of a file-discovery. */
  readonly files: ReadonlySet<string>;
  /** The place of a node of the Router document, or of its deepest ancestor that is there. */
  readonly positionOf: (path: Path, part?: "value" | "key") => Position;
  /** What can run, but is probably a mistake. */
  readonly warnings: readonly Problem[];
  readonly problems?: undefined;
}

/** All problems of an invalid config. */
export interface RefusedConfig {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** As in LoadedConfig, as far as it could be read. */
  readonly files: ReadonlySet<string>;
  /** The features' sections, as far as they could be read; undefined if nothing of them could. */
  readonly features?: RouterConfig["features"] | undefined;
  readonly config?: undefined;
}

/**
 * Reads config files and folders. `urls` are further endpoints; with them, no Router document is needed. `overlay` replaces,
 * removes and adds rewrites. `needsEndpoints`: whether an EndpointPickerConfig alone, whose replicas are still to be named, is a
 * problem or only a warning. `tlsFiles` remembers what files of TLS held before.
 */
export async function loadConfig(
  paths: readonly string[],
  registry: Registry,
  urls: readonly string[] = [],
  overlay: Overlay = NO_OVERLAY,
  needsEndpoints = true,
  tlsFiles = new TlsFiles(),
): Promise<LoadedConfig | RefusedConfig> {
  const problems: Problem[] = [];
  const texts = await readFiles(paths, problems);
  return loadTexts(texts, registry, urls, overlay, needsEndpoints, problems, tlsFiles);
}

/**
 * Like loadConfig, for texts instead of files. Appends to `problems`, which hold those of reading the files. With `running`, modules of
 * plugins are those that run.
 */
export async function loadTexts(
  texts: readonly ConfigText[],
  registry: Registry,
  urls: readonly string[] = [],
  overlay: Overlay = NO_OVERLAY,
  needsEndpoints = true,
  problems: Problem[] = [],
  tlsFiles = new TlsFiles(),
  running?: RunningPlugins,
): Promise<LoadedConfig | RefusedConfig> {
  const files = new Set<string>();
  const warnings: Problem[] = [];
  const sorted = (isResource: boolean) =>
    sortByKind(
      texts.filter(({ resource }) => (resource !== undefined) === isResource).flatMap((each) => documentsOf(each, problems)),
    );
  const [documents, cluster] = [sorted(false), sorted(true)];
  const isAllReadable = problems.length === 0;
  refuseSecond("Router", documents.Router);
  refuseSecond("EndpointPickerConfig", documents.EndpointPickerConfig);
  const [pickerSource] = documents.EndpointPickerConfig;
  const pickerResource = pickerSource && fit(pickerSource, pickerDocument, PICKER_STUBS);
  const picker = pickerResource && (await readPicker(pickerResource, registry, problems, files));
  const endpoints = [...(picker?.endpoints ?? []), ...endpointsOf(urls, problems)];
  // A discovery that finds none is reported where it is listed.
  const hasDiscovery = pickerResource?.document.dataLayer?.discovery !== undefined;
  const hasPools = documents.Pool.length > 0;
  if (documents.Router.length === 0 && endpoints.length === 0 && isAllReadable && !hasDiscovery && !hasPools)
    (picker === undefined || needsEndpoints ? problems : warnings).push(noReplicas(texts, pickerSource));
  const routerDocuments = joined(documents.Router, cluster.Router);
  const resource = routerResource(routerDocuments, registry, endpoints.length > 0 || picker !== undefined || hasPools);
  const router = resource && (await readRouter(resource, registry, endpoints, picker, files, tlsFiles, running, hasPools));
  if (picker !== undefined) for (const document of documents.Pool) refuseBesidePicker(document);

  if (picker !== undefined && router !== undefined) checkSchemes(picker, router.config.pool.endpoints);

  const problemsBefore = problems.length;
  const pool = router?.isPoolKnown ? router.config.pool.name : undefined;
  const elsewhere = new Set<string>();
  /** With the cluster's that are about this pool. */
  const all = (kind: "InferenceModelRewrite" | "InferenceObjective") => {
    const isOurs = (document: ConfigDocument) => pool === undefined || isAboutPool(document, pool);
    for (const document of cluster[kind]) if (!isOurs(document)) elsewhere.add(document.file);
    return [...documents[kind], ...cluster[kind].filter(isOurs)];
  };
  const rewriteDocuments = overlaid(all("InferenceModelRewrite"), overlay, problems);
  const resources = rewriteDocuments.flatMap((document) => fit(document, rewriteDocument, POOL_STUBS) ?? []);
  const isRewriteKnown = isAllReadable && problems.length === problemsBefore;
  const rules = readRules(resources, pool);
  const rewrites = inMatchingOrder(rules, warnings);
  const objectiveResources = all("InferenceObjective").flatMap((document) => fit(document, objectiveDocument, POOL_STUBS) ?? []);
  const objectives = readObjectives(objectiveResources, pool);

  const names = texts.map(({ file }) => file);
  const known = isRewriteKnown ? rewrites : undefined;
  const sections = sectionFeatures(registry);
  const alone = { registry, sections, picker, files, problems, warnings, resources, rules, known, objectives, pools: [] };
  const pools = router === undefined ? [] : await readPools(documents.Pool, routerDocuments[0], router, alone, tlsFiles, running);
  const read = resource && router && (await readSections(resource, router, { ...alone, pools }));
  if (problems.length > 0 || resource === undefined || router === undefined || read === undefined)
    return {
      problems: inReadingOrder(problems, names),
      warnings: inReadingOrder(warnings, names),
      files,
      features: read?.features,
    };
  const features = withRouterSettings(sections, read.features);
  const { instances, ...plan } = settledPlan(resource, router, { ...read, features }, alone, rewrites);
  warnings.push(...unusedPlugins([plan.config.profile, ...otherProfiles(plan.sections, read.features).values()], instances));
  warnings.push(...unmetNeeds(plan.config, instances), ...hiddenRoutes(instances));
  return {
    ...plan,
    notes: notesOn(picker, registry),
    pickedSections: picker === undefined ? new Set() : sectionsIn(picker, resource.document.spec),
    texts: texts.filter(({ file }) => !elsewhere.has(file)),
    elsewhere,
    pools: poolsOf(features),
    files,
    positionOf: resource.positionOf,
    warnings: inReadingOrder(warnings, names),
  };
}

function refuseBesidePicker({ report }: ConfigDocument): void {
  const wanted = "a Router document in its place (signalbox import writes one)";
  report(["kind"], { found: "a Pool document beside an EndpointPickerConfig", wanted });
}

/** A section of the Router document's own counts instead. */
function sectionsIn({ features }: PickerParts, spec: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set(["profiles", ...Object.keys(features)].filter((key) => spec[key] === undefined));
}

/** The Router documents, the cluster's in the files'. */
function joined(inFiles: readonly ConfigDocument[], [resource]: readonly ConfigDocument[]): readonly ConfigDocument[] {
  const [first, ...others] = inFiles;
  return first === undefined || resource === undefined ? inFiles : [withResource(first, resource), ...others];
}

/** The Router document; an empty one if there is none and none is needed. */
function routerResource(
  [document]: readonly ConfigDocument[],
  registry: Registry,
  canBeEmpty: boolean,
): Resource<RouterDocument> | undefined {
  if (document !== undefined) return fit(document, routerDocument(registry), ROUTER_STUBS);
  return canBeEmpty ? emptyRouter(registry) : undefined;
}

const emptyRouter = (registry: Registry): Resource<RouterDocument> => ({
  file: "",
  document: routerDocument(registry).parse({ apiVersion: "signalbox/v1", kind: "Router", spec: {} }),
  positionOf: () => allOf(""),
  report: () => {},
  wasCut: () => false,
});

function refuseSecond(kind: string, [first, ...others]: readonly ConfigDocument[]): void {
  for (const { report } of others) {
    const found = `a second ${kind} document (the first is in ${first?.file})`;
    report(["kind"], { found, wanted: "one in all files together" });
  }
}

/** A file of the reference's may well be alone: its replicas are named where the router is started. */
function noReplicas(texts: readonly ConfigText[], picker: ConfigDocument | undefined): Problem {
  if (picker !== undefined) {
    const wanted =
      "their URLs beside it (signalbox start http://gpu1:8000 -f FILE), or a Router document with spec.pool.endpoints";
    return problemAt(picker.positionOf(["kind"]), ["kind"], { found: "an EndpointPickerConfig without replicas", wanted });
  }
  const files = texts.map(({ file }) => file).join(", ");
  const wanted = "one with spec.pool.endpoints, or endpoint URLs on the command line";
  return problemAt(allOf(files || "config"), [], { found: "no document of kind Router", wanted });
}

function endpointsOf(urls: readonly string[], problems: Problem[]): readonly EndpointEntry[] {
  return urls.map((url, index) => ({
    spec: { url },
    report: (_path, finding) => problems.push(problemAt(allOf(`URL ${index + 1}`), [], finding)),
  }));
}

/** Required values whose problems must not hide those of the values around them. */
const ROUTER_STUBS: Stubs = { "spec.plugins.*": {} };
const PICKER_STUBS: Stubs = { "schedulingProfiles.*.name": "default" };
const POOL_STUBS: Stubs = { metadata: { name: "unnamed" }, "metadata.name": "unnamed", "spec.poolRef": { name: "unnamed" } };
