import type { Definition } from "../core/contract/plugin.ts";
import type { RouterConfig } from "./config.ts";
import { type ConfigDocument, readDocuments } from "./documents.ts";
import { readPicker } from "./endpoint-picker/read.ts";
import { pickerDocument } from "./endpoint-picker/schema.ts";
import { type ConfigText, readFiles } from "./files.ts";
import { allInstances, type Registry } from "./instances.ts";
import { NO_OVERLAY, type Overlay, overlaid } from "./overlay.ts";
import type { EndpointEntry } from "./pool.ts";
import { inReadingOrder, type Path, type Position, type Problem, problemAt } from "./problems.ts";
import { fit, type Resource, sortByKind } from "./resources.ts";
import { rewriteDocument } from "./rewrite-schema.ts";
import { readRewrites } from "./rewrites.ts";
import { readRouter } from "./router.ts";
import { type RouterDocument, routerDocument } from "./schema.ts";
import { checkKeepAlivePaths } from "./served-paths.ts";

/** A valid config, with the type of each of its instances. */
export interface LoadedConfig {
  readonly config: RouterConfig;
  /** Types by the name of the entry in `config.plugins`. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Names of entries in an EndpointPickerConfig that are not needed: the router does their job itself. */
  readonly unneeded: readonly string[];
  /** What it was read from. */
  readonly texts: readonly ConfigText[];
  /** Further files that it depends on, absolute: of plugins and of a file-discovery. */
  readonly files: ReadonlySet<string>;
  /** The place of a node of the Router document, or of its deepest ancestor that is there. */
  readonly positionOf: (path: Path, part?: "value" | "key") => Position;
  readonly problems?: undefined;
}

/** All problems of an invalid config. */
export interface RefusedConfig {
  readonly problems: readonly Problem[];
  /** As in LoadedConfig, as far as it could be read. */
  readonly files: ReadonlySet<string>;
  readonly config?: undefined;
}

/**
 * Reads config files and folders. `urls` are further endpoints; with them, no Router document is needed. `overlay` replaces,
 * removes and adds rewrites.
 */
export async function loadConfig(
  paths: readonly string[],
  registry: Registry,
  urls: readonly string[] = [],
  overlay: Overlay = NO_OVERLAY,
): Promise<LoadedConfig | RefusedConfig> {
  const problems: Problem[] = [];
  const texts = await readFiles(paths, problems);
  return read({ texts, registry, urls, overlay, problems });
}

/** Like loadConfig, for texts instead of files. */
export function loadTexts(
  texts: readonly ConfigText[],
  registry: Registry,
  urls: readonly string[] = [],
  overlay: Overlay = NO_OVERLAY,
): Promise<LoadedConfig | RefusedConfig> {
  return read({ texts, registry, urls, overlay, problems: [] });
}

interface Sources {
  readonly texts: readonly ConfigText[];
  readonly registry: Registry;
  readonly urls: readonly string[];
  readonly overlay: Overlay;
  readonly problems: Problem[];
}

async function read({ texts, registry, urls, overlay, problems }: Sources): Promise<LoadedConfig | RefusedConfig> {
  const files = new Set<string>();
  const documents = sortByKind(texts.flatMap(({ file, text }) => readDocuments(file, text, problems)));
  refuseSecond("Router", documents.Router);
  refuseSecond("EndpointPickerConfig", documents.EndpointPickerConfig);
  const [pickerSource] = documents.EndpointPickerConfig;
  const pickerResource = pickerSource && fit(pickerSource, pickerDocument, pickerSectionOf);
  const picker = pickerResource && (await readPicker(pickerResource, problems, files));
  const endpoints = [...(picker?.endpoints ?? []), ...endpointsOf(urls, problems)];
  if (documents.Router.length === 0 && endpoints.length === 0 && problems.length === 0) problems.push(noRouter(texts));
  const resource = routerResource(documents.Router, endpoints.length > 0);
  const router = resource && (await readRouter(resource, registry, endpoints, picker, files));

  const rewriteDocuments = overlaid(documents.InferenceModelRewrite, overlay, problems);
  const resources = rewriteDocuments.flatMap((document) => fit(document, rewriteDocument, () => undefined) ?? []);
  const rewrites = readRewrites(resources, router?.isPoolKnown ? router.config.pool.name : undefined);

  const refused = () => ({
    problems: inReadingOrder(
      problems,
      texts.map(({ file }) => file),
    ),
    files,
  });
  if (problems.length > 0 || resource === undefined || router === undefined) return refused();
  const settled = { ...router.config, rewrites };
  const instances = allInstances(settled, router.listed, registry);
  const { keepAlive } = settled.settings;
  if (keepAlive !== undefined) checkKeepAlivePaths(keepAlive, instances, router.report);
  if (problems.length > 0) return refused();
  return {
    config: { ...settled, plugins: instances.map(({ entry }) => entry) },
    definitions: new Map(instances.map(({ entry, definition }) => [entry.name, definition])),
    unneeded: picker?.unneeded ?? [],
    texts,
    files,
    positionOf: resource.positionOf,
  };
}

/** The Router document; an empty one if there is none and endpoints come from elsewhere. */
function routerResource([document]: readonly ConfigDocument[], hasEndpoints: boolean): Resource<RouterDocument> | undefined {
  if (document !== undefined) return fit(document, routerDocument, routerSectionOf);
  return hasEndpoints ? EMPTY_ROUTER : undefined;
}

const EMPTY_ROUTER: Resource<RouterDocument> = {
  file: "",
  document: { apiVersion: "signalbox/v1", kind: "Router", spec: {} },
  positionOf: () => ({ file: "", line: 0, column: 0 }),
  report: () => {},
  broken: new Set(),
};

function refuseSecond(kind: string, [first, ...others]: readonly ConfigDocument[]): void {
  for (const { report } of others) {
    report(["kind"], {
      found: `a second ${kind} document (the first is in ${first?.file})`,
      wanted: "one in all files together",
    });
  }
}

function noRouter(texts: readonly ConfigText[]): Problem {
  const files = texts.map(({ file }) => file).join(", ");
  const finding = {
    found: "no document of kind Router",
    wanted: "one with spec.pool.endpoints, or endpoint URLs on the command line",
  };
  return problemAt({ file: files || "config", line: 0, column: 0 }, [], finding);
}

function endpointsOf(urls: readonly string[], problems: Problem[]): readonly EndpointEntry[] {
  return urls.map((url, index) => ({
    spec: { url },
    report: (_path, finding) => problems.push(problemAt({ file: `URL ${index + 1}`, line: 0, column: 0 }, [], finding)),
  }));
}

/** Sections are checked separately, so that a mistake in one does not hide those in another. */
function routerSectionOf([first, section]: Path): Path | undefined {
  return first === "spec" && typeof section === "string" ? [first, section] : undefined;
}

function pickerSectionOf([section]: Path): Path | undefined {
  return section === undefined || section === "apiVersion" || section === "kind" ? undefined : [section];
}
