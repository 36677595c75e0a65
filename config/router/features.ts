import { FEATURES } from "../../core/features/list.ts";
import type { ConfigAround } from "../../core/features/section.ts";
import type { FeatureConfigs, Settings } from "../../core/settings.ts";
import type { ProfileConfig } from "../config.ts";
import type { PluginParameters } from "../plugins/listed.ts";
import type { RouterSpec } from "./schema.ts";

/** What each feature's section says. */
export async function readFeatures(spec: RouterSpec, around: ConfigAround): Promise<FeatureConfigs> {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  const configs = new Map<string, unknown>();
  for (const { section } of FEATURES) configs.set(section.key, await section.read(written[section.key], around));
  return configs;
}

/** The router's settings as the features want them. */
export function settingsWith(features: FeatureConfigs, settings: Settings): Settings {
  return FEATURES.reduce((so, { section }) => section.settings?.(features.get(section.key), so) ?? so, settings);
}

/** The plugins that features bring. */
export function featurePlugins(features: FeatureConfigs): readonly PluginParameters[] {
  return FEATURES.flatMap(({ section }) => section.plugins?.(features.get(section.key)) ?? []);
}

/** Types of plugins that features need. */
export function neededPlugins(features: FeatureConfigs): readonly string[] {
  return FEATURES.flatMap(({ section }) => section.needs?.(features.get(section.key)) ?? []);
}

/** The profiles of the features that have one, as they are written. */
export function otherProfiles(features: FeatureConfigs): ReadonlyMap<string, ProfileConfig> {
  const profiles = FEATURES.map(({ section }) => [section.key, section.profile?.(features.get(section.key))] as const);
  return new Map(profiles.flatMap(([key, profile]) => (profile === undefined ? [] : [[key, profile] as const])));
}
