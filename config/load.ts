import { isolate } from "../core/control/isolation/plugin-isolation.ts";
import type { Position, RouterConfig, RouterPlan } from "../core/router-config.ts";
import { checkSchemes, notesOn } from "./endpoint-picker/notes.ts";
import { readPicker } from "./endpoint-picker/read.ts";
import { pickerDocument } from "./endpoint-picker/schema.ts";
import { type SectionFeature, sectionFeatures } from "./feature.ts";
import { readObjectives } from "./objectives/read.ts";
import { objectiveDocument } from "./objectives/schema.ts";
import { allInstances, type Registry, unusedPlugins } from "./plugins/instances.ts";
import type { RunningPlugins } from "./plugins/listed.ts";
import { ownReferences } from "./plugins/own-instances.ts";
import { type ConfigDocument, documentsOf } from "./read/documents.ts";
import { type ConfigText, readFiles } from "./read/files.ts";
import { fit, type Resource, type Stubs } from "./read/fit.ts";
import { sortByKind } from "./read/kinds.ts";
import { allOf, inReadingOrder, type Path, type Problem, problemAt } from "./read/problems.ts";
import { NO_OVERLAY, type Overlay, overlaid } from "./rewrites/overlay.ts";
import { isAboutPool } from "./rewrites/pool-resources.ts";
import { inMatchingOrder, readRules } from "./rewrites/read.ts";
import { rewriteDocument } from "./rewrites/schema.ts";
import {
  builtInsOfFeatures,
  instancesOfFeatures,
  neededPlugins,
  otherProfiles,
  readFeatures,
  settingsWith,
} from "./router/features.ts";
import type { EndpointEntry } from "./router/pool.ts";
import { readProfile, routerProfile } from "./router/profile.ts";
import { type PickerParts, readRouter } from "./router/read.ts";
import { withResource } from "./router/resource.ts";
import { type RouterDocument, routerDocument } from "./router/schema.ts";
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
  if (documents.Router.length === 0 && endpoints.length === 0 && isAllReadable && !hasDiscovery)
    (picker === undefined || needsEndpoints ? problems : warnings).push(noReplicas(texts, pickerSource));
  const resource = routerResource(
    joined(documents.Router, cluster.Router),
    registry,
    endpoints.length > 0 || picker !== undefined,
  );
  const router = resource && (await readRouter(resource, registry, endpoints, picker, files, tlsFiles, running));

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
  const shuffled = new Set<string>();
  const sections = sectionFeatures(registry);
  const features =
    resource &&
    router &&
    (await readFeatures(sections, resource.document.spec, picker?.features ?? {}, {
      router: resource,
      files,
      problems,
      warnings,
      resources,
      rules,
      objectives: new Map(objectives.map(({ name, priority }) => [name, priority])),
      // A rule that can't be read may be the one that a section names.
      rewrites: isRewriteKnown ? rewrites : undefined,
      listed: router.listed,
      hasProfile: picker !== undefined || (resource.document.spec.profiles?.length ?? 0) > 0,
      readProfile(written, path) {
        const inPicker = isIn(resource.document, path) ? undefined : picker?.others.get(path.slice(1).join("."));
        return readProfile(inPicker ?? routerProfile(written, path, router.report), router.listed, registry);
      },
      instances() {
        const alone = { ...router.config, rewrites: [], objectives, features: new Map(), others: new Map(), shuffled };
        return allInstances(alone, router.listed, registry);
      },
      shuffle: (rule) => void shuffled.add(rule),
    }));
  if (problems.length > 0 || resource === undefined || router === undefined || features === undefined)
    return { problems: inReadingOrder(problems, names), warnings: inReadingOrder(warnings, names), files, features };
  const written = otherProfiles(sections, features);
  const others = new Map([...written].map(([key, profile]) => [key, ownReferences(key, profile)]));
  const settings = settingsWith(sections, features, router.config.settings);
  const settled = { ...router.config, settings, rewrites, objectives, features, others, shuffled };
  const instances = [
    ...allInstances(settled, router.listed, registry, builtInsOfFeatures(sections, features), neededPlugins(sections, features)),
    ...instancesOfFeatures(sections, features, resource),
  ];
  warnings.push(...unusedPlugins([settled.profile, ...written.values()], instances));
  const plugins = instances.map(({ entry }) => entry);
  return {
    config: { ...settled, plugins },
    definitions: new Map(instances.map(({ entry, definition }) => [entry.name, definition])),
    sections,
    isolate,
    notes: notesOn(picker, registry),
    pickedSections: picker === undefined ? new Set() : sectionsIn(picker, resource.document.spec),
    texts: texts.filter(({ file }) => !elsewhere.has(file)),
    elsewhere,
    files,
    positionOf: resource.positionOf,
    warnings: inReadingOrder(warnings, names),
  };
}

/** A section of the Router document's own counts instead. */
function sectionsIn({ features }: PickerParts, spec: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set(["profiles", ...Object.keys(features)].filter((key) => spec[key] === undefined));
}

function isIn(document: unknown, path: Path): boolean {
  let node = document;
  for (const step of path) node = (node as Readonly<Record<string | number, unknown>> | undefined)?.[step];
  return node !== undefined;
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
