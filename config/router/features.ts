import type { ProfileConfig } from "../../core/router-config.ts";
import type { FeatureConfigs, Settings } from "../../core/settings.ts";
import type { SectionFeature } from "../feature.ts";
import type { Instance, PluginParameters } from "../plugins/listed.ts";
import type { Place } from "../read/documents.ts";
import type { ConfigAround } from "../section.ts";
import type { RouterSpec } from "./schema.ts";

type Features = readonly SectionFeature[];

/** What each feature's section says; `otherwise` has sections for a Router document that leaves them out. */
export async function readFeatures(
  all: Features,
  spec: RouterSpec,
  otherwise: Readonly<Record<string, unknown>>,
  around: ConfigAround,
): Promise<FeatureConfigs> {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  const writtenIn = ({ key, schema, beside }: SectionFeature["section"]) => {
    if (!Object.hasOwn(otherwise, key)) return written[key];
    const other = schema.parse(otherwise[key]);
    return written[key] === undefined ? other : (beside?.(written[key], other) ?? written[key]);
  };
  const configs = new Map<string, unknown>();
  for (const { section } of all) configs.set(section.key, await section.read(writtenIn(section), around));
  return configs;
}

/** The router's settings as the features want them. */
export function settingsWith(all: Features, features: FeatureConfigs, settings: Settings): Settings {
  return all.reduce((so, { section }) => section.settings?.(features.get(section.key), so) ?? so, settings);
}

/** Built-in plugins that run because of the features' sections. */
export function builtInsOfFeatures(all: Features, features: FeatureConfigs): readonly PluginParameters[] {
  return all.flatMap(({ section }) => section.builtIns?.(features.get(section.key)) ?? []);
}

/** Types of plugins that features need. */
export function neededPlugins(all: Features, features: FeatureConfigs): readonly string[] {
  return all.flatMap(({ section }) => section.needs?.(features.get(section.key)) ?? []);
}

/** What the features' sections say of the pool: set if one of them finds the replicas. */
export function poolOfFeatures(
  all: Features,
  spec: RouterSpec,
): { readonly key: string; readonly name: string | undefined } | undefined {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  const found = all.flatMap(({ section: { key, pool } }) => {
    const own = pool?.(written[key]);
    return own === undefined ? [] : [{ key, ...own }];
  });
  return found[0];
}

/** The plugins that run because of the features' sections. No listed plugin can have a name with a slash. */
export function instancesOfFeatures(all: Features, features: FeatureConfigs, { positionOf, report }: Place): readonly Instance[] {
  return all.flatMap(({ section: { key, instances } }) => {
    const path = ["spec", key];
    return (instances?.(features.get(key)) ?? []).map(({ name, definition, parameters }) => {
      const from = { from: undefined, file: "", folder: ".", position: positionOf(path) };
      return { entry: { name: `${key}/${name}`, type: definition.type, parameters, ...from }, definition, path, report };
    });
  });
}

/** The profiles of the features that have some, as they are written. */
export function otherProfiles(all: Features, features: FeatureConfigs): ReadonlyMap<string, ProfileConfig> {
  return new Map(all.flatMap(({ section }) => section.profiles?.(features.get(section.key)) ?? []));
}
