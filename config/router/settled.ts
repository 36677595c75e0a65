import { isolate } from "../../core/control/isolation/plugin-isolation.ts";
import type { Objective, PoolPlan, RewriteRule, RouterConfig, RouterPlan } from "../../core/router-config.ts";
import { type SectionFeature, sectionFeatures } from "../feature.ts";
import { allInstances, type Registry } from "../plugins/instances.ts";
import type { Instance, ListedPlugins } from "../plugins/listed.ts";
import { ownReferences } from "../plugins/own-instances.ts";
import type { Resource } from "../read/fit.ts";
import type { Path, Problem } from "../read/problems.ts";
import type { PlacedRule } from "../rewrites/read.ts";
import type { RewriteDocument } from "../rewrites/schema.ts";
import {
  builtInsOfFeatures,
  instancesOfFeatures,
  neededPlugins,
  otherProfiles,
  poolOfFeatures,
  readFeatures,
  settingsWith,
} from "./features.ts";
import { readProfile, routerProfile } from "./profile.ts";
import type { PickerParts, RouterParts } from "./read.ts";
import type { RouterDocument } from "./schema.ts";

/** What a Router document is read beside. */
export interface Beside {
  readonly registry: Registry;
  /** The features whose sections are read. */
  readonly sections: readonly SectionFeature[];
  readonly picker: PickerParts | undefined;
  readonly files: Set<string>;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  readonly resources: readonly Resource<RewriteDocument>[];
  readonly rules: readonly PlacedRule[];
  /** Undefined if one can't be read. */
  readonly known: readonly RewriteRule[] | undefined;
  readonly objectives: readonly Objective[];
  readonly pools: readonly PoolPlan[];
}

/** The features' sections, and the rules that they want drawn in a random order. */
export interface ReadSections {
  readonly features: RouterConfig["features"];
  readonly shuffled: ReadonlySet<string>;
}

export async function readSections(
  resource: Resource<RouterDocument>,
  router: RouterParts,
  { registry, sections, picker, known, objectives, ...around }: Beside,
): Promise<ReadSections> {
  const shuffled = new Set<string>();
  const { spec } = resource.document;
  const features = await readFeatures(sections, spec, picker?.features ?? {}, {
    ...around,
    router: resource,
    objectives: new Map(objectives.map(({ name, priority }) => [name, priority])),
    // A rule that can't be read may be the one that a section names.
    rewrites: known,
    listed: router.listed,
    own: { name: router.config.pool.name, hasReplicas: hasReplicas(resource, router, registry) },
    hasProfile: picker !== undefined || (spec.profiles?.length ?? 0) > 0,
    readProfile(written, path) {
      const inPicker = isIn(resource.document, path) ? undefined : picker?.others.get(path.slice(1).join("."));
      return readProfile(inPicker ?? routerProfile(written, path, router.report), router.listed, registry);
    },
    instances() {
      const alone = { ...router.config, rewrites: [], objectives, features: new Map(), others: new Map(), shuffled };
      return allInstances(alone, router.listed, registry);
    },
    shuffle: (rule) => void shuffled.add(rule),
  });
  return { features, shuffled };
}

/** All that runs by a document without problems, with these sections of features. */
export interface SettledPlan extends RouterPlan {
  readonly sections: readonly SectionFeature[];
  readonly instances: readonly Instance[];
}

/** `takes` says which instances run. */
export function settledPlan(
  resource: Resource<RouterDocument>,
  { config, listed }: { readonly config: RouterParts["config"]; readonly listed: ListedPlugins },
  { features, shuffled }: ReadSections,
  { registry, sections, objectives }: Pick<Beside, "registry" | "sections" | "objectives">,
  rewrites: readonly RewriteRule[],
  takes: (instance: Instance) => boolean = () => true,
): SettledPlan {
  const written = otherProfiles(sections, features);
  const others = new Map([...written].map(([key, profile]) => [key, ownReferences(key, profile)]));
  const settings = settingsWith(sections, features, config.settings);
  const settled = { ...config, settings, rewrites, objectives, features, others, shuffled };
  const instances = [
    ...allInstances(settled, listed, registry, builtInsOfFeatures(sections, features), neededPlugins(sections, features)),
    ...instancesOfFeatures(sections, features, resource),
  ].filter(takes);
  return {
    config: { ...settled, plugins: instances.map(({ entry }) => entry) },
    definitions: new Map(instances.map(({ entry, definition }) => [entry.name, definition])),
    sections,
    isolate,
    instances,
  };
}

function hasReplicas({ document }: Resource<RouterDocument>, { config, listed }: RouterParts, registry: Registry): boolean {
  const isFound = [...listed.instances.values()].some(({ definition }) => definition.kind === "discovery");
  return config.pool.endpoints.length > 0 || isFound || poolOfFeatures(sectionFeatures(registry), document.spec) !== undefined;
}

function isIn(document: unknown, path: Path): boolean {
  let node = document;
  for (const step of path) node = (node as Readonly<Record<string | number, unknown>> | undefined)?.[step];
  return node !== undefined;
}
