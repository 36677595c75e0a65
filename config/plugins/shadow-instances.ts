import type { ProfileConfig, RouterConfig, ShadowConfig } from "../config.ts";
import type { Instance, ListedPlugins } from "./listed.ts";

/** In front of the names of the shadow's instances. No listed plugin can have such a name. */
const SHADOW_PREFIX = "shadow/";

/** The shadow with references to instances of its own. */
export function ownReferences(shadow: ShadowConfig): ShadowConfig {
  return { ...shadow, plugins: shadow.plugins.map((ref) => ({ ...ref, pluginRef: SHADOW_PREFIX + ref.pluginRef })) };
}

/** The references as they are written. */
export function writtenReferences({ plugins }: ProfileConfig): ProfileConfig["plugins"] {
  return plugins.map((ref) => ({ ...ref, pluginRef: ref.pluginRef.slice(SHADOW_PREFIX.length) }));
}

/** Whether an instance is the shadow's own. */
export function isOfShadow(name: string): boolean {
  return name.startsWith(SHADOW_PREFIX);
}

/**
 * Copies of the instances that the shadow names, so that those with a memory (the turns of round-robin) remember what the shadow
 * chose, and the other profile's are left alone. `make` makes one that no file lists.
 */
export function shadowInstances(
  { shadow }: Pick<RouterConfig, "shadow">,
  { instances }: ListedPlugins,
  make: (type: string) => Instance,
): readonly Instance[] {
  return (shadow?.plugins ?? []).map(({ pluginRef }) => {
    const { entry, ...instance } = instances.get(pluginRef) ?? make(pluginRef);
    return { ...instance, entry: { ...entry, name: SHADOW_PREFIX + pluginRef } };
  });
}
