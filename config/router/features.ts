import { FEATURES } from "../../core/features/list.ts";
import type { ConfigAround } from "../../core/features/section.ts";
import type { FeatureConfigs } from "../../core/settings.ts";
import type { ProfileConfig } from "../config.ts";
import type { RouterSpec } from "./schema.ts";

/** What each feature's section says; `otherwise` has sections that the Router document leaves out. */
export function readFeatures(
  spec: RouterSpec,
  otherwise: Readonly<Record<string, unknown>>,
  around: ConfigAround,
): FeatureConfigs {
  const written: Readonly<Record<string, unknown>> = { ...spec };
  const writtenIn = ({ key, schema }: (typeof FEATURES)[number]["section"]) =>
    written[key] === undefined && Object.hasOwn(otherwise, key) ? schema.parse(otherwise[key]) : written[key];
  return new Map(FEATURES.map(({ section }) => [section.key, section.read(writtenIn(section), around)]));
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
