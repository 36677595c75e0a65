import type { Definition } from "../core/plugin.ts";
import type { RouterConfig } from "./config.ts";
import { DEFAULT_OBSERVERS, DEFAULT_PARSERS, DEFAULT_SOURCES } from "./defaults.ts";
import { type Instance, type ListedPlugins, listedOfType, type Registry, unlistedInstance } from "./plugins.ts";

/**
 * Every instance the config amounts to. The default parsers come first, so that a listed one of another type wins a path that
 * both serve; the other defaults come last.
 */
export function allInstances(
  config: Omit<RouterConfig, "plugins">,
  listed: ListedPlugins,
  registry: Registry,
): readonly Instance[] {
  const unlisted = (type: string, parameters: unknown = {}) => unlistedInstance(builtIn(type, registry), parameters);
  const missing = (types: readonly string[]) => types.filter((type) => listedOfType(type, listed).length === 0);
  const { endpoints } = config.pool;
  const ofProfile = config.profile.plugins.map(({ pluginRef }) => pluginRef).filter((name) => !listed.instances.has(name));
  return [
    ...missing(DEFAULT_PARSERS).map((type) => unlisted(type)),
    ...listed.instances.values(),
    ...(config.rewrites.length > 0 ? [unlisted("model-rewrite", { rules: config.rewrites })] : []),
    ...(endpoints.length > 0 ? [unlisted("static", { endpoints })] : []),
    ...missing([...DEFAULT_SOURCES, ...DEFAULT_OBSERVERS]).map((type) => unlisted(type)),
    ...ofProfile.map((type) => unlisted(type)),
  ];
}

function builtIn(type: string, registry: Registry): Definition {
  const definition = registry.get(type);
  if (definition === undefined) throw new Error(`The registry has no plugin type "${type}", which is on by default`);
  return definition;
}
