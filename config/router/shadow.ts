import type { ShadowConfig } from "../config.ts";
import { isProfileKind, type Registry } from "../plugins/instances.ts";
import type { ListedPlugins } from "../plugins/listed.ts";
import type { Report } from "../read/problems.ts";
import { readProfile, routerProfile } from "./profile.ts";
import type { RouterSpec, ShadowSpec } from "./schema.ts";

/** The shadow as it is written: its references still name what the other profile uses too. */
export function readShadow(spec: ShadowSpec, listed: ListedPlugins, registry: Registry, report: Report): ShadowConfig {
  const profile = readProfile(routerProfile(spec, ["spec", "shadow"], report), listed, registry);
  return { ...profile, percent: spec.percent };
}

/**
 * Without a profile, the listed plugins are the profile; beside a shadow they may be meant for the shadow alone. Says so, where
 * that could be.
 */
export function refuseShadowAlone({ shadow, profiles }: RouterSpec, { instances }: ListedPlugins, report: Report): void {
  const isUnclear = [...instances.values()].some(({ definition }) => isProfileKind(definition.kind));
  if (shadow === undefined || (profiles?.length ?? 0) > 0 || !isUnclear) return;
  report(
    ["spec", "shadow"],
    { found: "a shadow, and plugins that no profile lists", wanted: "spec.profiles: which plugins decide for the clients" },
    "key",
  );
}
