import type { ProfileConfig, RouterConfig } from "../../core/router-config.ts";
import type { Instance, ListedPlugins } from "./listed.ts";

/** A profile with references to instances of its own. No listed plugin can have a name with a slash. */
export function ownReferences(prefix: string, profile: ProfileConfig): ProfileConfig {
  return { ...profile, plugins: profile.plugins.map((ref) => ({ ...ref, pluginRef: `${prefix}/${ref.pluginRef}` })) };
}

/** Whether an instance belongs to another profile than that which decides for the clients. */
export function isOfOther(name: string): boolean {
  return name.includes("/");
}

/**
 * Copies of the instances that the other profiles name, so that those with a memory (the turns of round-robin) remember what their
 * own profile chose. `make` makes one that no file lists.
 */
export function ownInstances(
  others: RouterConfig["others"],
  { instances }: ListedPlugins,
  make: (type: string) => Instance,
): readonly Instance[] {
  return [...others.values()].flatMap(({ plugins }) =>
    plugins.map(({ pluginRef }) => {
      const written = pluginRef.slice(pluginRef.indexOf("/") + 1);
      const { entry, ...instance } = instances.get(written) ?? make(written);
      return { ...instance, entry: { ...entry, name: pluginRef } };
    }),
  );
}
