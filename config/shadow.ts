import type { ShadowConfig } from "./config.ts";
import type { ListedPlugins, Registry } from "./instances.ts";
import type { Report } from "./problems.ts";
import { ROUTER_DEFAULTS, readProfile } from "./profile.ts";
import type { RouterSpec, ShadowSpec } from "./schema.ts";

/** The shadow as it is written: its references still name what the other profile uses too. */
export function readShadow(spec: ShadowSpec, listed: ListedPlugins, registry: Registry, report: Report): ShadowConfig {
  const refs = spec.plugins.map(({ pluginRef, weight }, index) => ({
    pluginRef,
    weight,
    path: ["spec", "shadow", "plugins", index],
  }));
  const profile = { name: spec.name ?? "shadow", refs, isUnguarded: spec.unguarded ?? false };
  const source = { profile, report, pluginsAt: "spec.plugins", defaults: ROUTER_DEFAULTS };
  return { ...readProfile(source, listed, registry), percent: spec.percent ?? 100 };
}

/**
 * Without a profile, the listed plugins are the profile; beside a shadow they may be meant for the shadow alone. Says so, where
 * that could be.
 */
export function refuseShadowAlone({ shadow, profiles }: RouterSpec, { instances }: ListedPlugins, report: Report): void {
  const kinds = [...instances.values()].map(({ definition }) => definition.kind);
  const isUnclear = kinds.some((kind) => kind === "filter" || kind === "scorer" || kind === "picker");
  if (shadow === undefined || (profiles?.length ?? 0) > 0 || !isUnclear) return;
  report(
    ["spec", "shadow"],
    { found: "a shadow, and plugins that no profile lists", wanted: "spec.profiles: which plugins decide for the clients" },
    "key",
  );
}
