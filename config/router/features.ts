import { FEATURES } from "../../core/features/list.ts";
import type { ConfigAround } from "../../core/features/section.ts";
import type { FeatureConfigs, Settings } from "../../core/settings.ts";
import type { ProfileConfig } from "../config.ts";
import type { Instance, PluginParameters } from "../plugins/listed.ts";
import type { Place } from "../read/documents.ts";
import type { RouterSpec } from "./schema.ts";

/** What each feature's section says; `otherwise` has sections that the Router document leaves out. */
export async function readFeatures(
  spec: RouterSpec,
  otherwise: Readonly<Record<string, unknown>>,
  around: ConfigAround,
): Promise<FeatureConfigs> {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  const writtenIn = ({ key, schema }: (typeof FEATURES)[number]["section"]) =>
    written[key] === undefined && Object.hasOwn(otherwise, key) ? schema.parse(otherwise[key]) : written[key];
  const configs = new Map<string, unknown>();
  for (const { section } of FEATURES) configs.set(section.key, await section.read(writtenIn(section), around));
  return configs;
}

/** The router's settings as the features want them. */
export function settingsWith(features: FeatureConfigs, settings: Settings): Settings {
  return FEATURES.reduce((so, { section }) => section.settings?.(features.get(section.key), so) ?? so, settings);
}

/** Built-in plugins that run because of the features' sections. */
export function builtInsOfFeatures(features: FeatureConfigs): readonly PluginParameters[] {
  return FEATURES.flatMap(({ section }) => section.builtIns?.(features.get(section.key)) ?? []);
}

/** Types of plugins that features need. */
export function neededPlugins(features: FeatureConfigs): readonly string[] {
  return FEATURES.flatMap(({ section }) => section.needs?.(features.get(section.key)) ?? []);
}

/** What the features' sections say of the pool: set if one of them finds the replicas. */
export function poolOfFeatures(spec: RouterSpec): { readonly key: string; readonly name: string | undefined } | undefined {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  const found = FEATURES.flatMap(({ section: { key, pool } }) => {
    const own = pool?.(written[key]);
    return own === undefined ? [] : [{ key, ...own }];
  });
  return found[0];
}

/** The plugins that run because of the features' sections. No listed plugin can have a name with a slash. */
export function instancesOfFeatures(features: FeatureConfigs, { positionOf, report }: Place): readonly Instance[] {
  return FEATURES.flatMap(({ section: { key, instances } }) => {
    const path = ["spec", key];
    return (instances?.(features.get(key)) ?? []).map(({ name, definition, parameters }) => {
      const from = { from: undefined, file: "", folder: ".", position: positionOf(path) };
      return { entry: { name: `${key}/${name}`, type: definition.type, parameters, ...from }, definition, path, report };
    });
  });
}

/** The profiles of the features that have one, as they are written. */
export function otherProfiles(features: FeatureConfigs): ReadonlyMap<string, ProfileConfig> {
  const profiles = FEATURES.map(({ section }) => [section.key, section.profile?.(features.get(section.key))] as const);
  return new Map(profiles.flatMap(([key, profile]) => (profile === undefined ? [] : [[key, profile] as const])));
}
