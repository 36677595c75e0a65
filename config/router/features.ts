import { FEATURES } from "../../core/features/list.ts";
import type { ConfigAround } from "../../core/features/section.ts";
import type { FeatureConfigs } from "../../core/settings.ts";
import type { ProfileConfig } from "../config.ts";
import type { RouterSpec } from "./schema.ts";

/** What each feature's section says. */
export function readFeatures(spec: RouterSpec, around: ConfigAround): FeatureConfigs {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  return new Map(FEATURES.map(({ section }) => [section.key, section.read(written[section.key], around)]));
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
