import type { SchemaResult } from "../core/contract/options.ts";
import type { Definition } from "../core/contract/plugin.ts";
import type { PluginEntry, RouterConfig } from "./config.ts";
import { DEFAULT_DETECTORS, DEFAULT_OBSERVERS, DEFAULT_PARSERS, DEFAULT_SOURCES } from "./defaults.ts";
import type { Path, Report } from "./problems.ts";

/** Types by the names a config may call them by; a key that is not its definition's `type` is a name of the reference router. */
export type Registry = ReadonlyMap<string, Definition>;

/** The types under their own names. */
export function ownTypes(registry: Registry): readonly Definition[] {
  return [...registry].filter(([name, { type }]) => name === type).map(([, definition]) => definition);
}

/** One instance and the type it is of. */
export interface Instance {
  readonly entry: PluginEntry;
  readonly definition: Definition;
  /** Where its document lists it; empty for a default. */
  readonly path: Path;
  readonly report: Report;
}

/** What the config lists under `plugins`. */
export interface ListedPlugins {
  readonly instances: ReadonlyMap<string, Instance>;
  /** Names of entries that have a problem; what refers to one of them has none of its own. */
  readonly brokenNames: ReadonlySet<string>;
  /** True when a broken entry may have had any name. */
  readonly hasNamelessBroken: boolean;
  /** Types that run by default, but not here. */
  readonly withoutDefaults: ReadonlySet<string>;
}

/** The listed instances of a built-in type. */
export function listedOfType(type: string, { instances }: ListedPlugins): readonly Instance[] {
  return [...instances.values()].filter(({ entry }) => entry.type === type && entry.from === undefined);
}

/** What a plugin's schema says of its parameters, or why it can't say it now. */
export function validateOptions({ options }: Definition, value: unknown): SchemaResult<unknown> | { readonly fault: string } {
  try {
    const result = options["~standard"].validate(value);
    if (!(result instanceof Promise)) return result;
    result.catch(() => {});
    return { fault: "its schema is asynchronous" };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** True when a type can be used without parameters. */
export function needsNoParameters(definition: Definition): boolean {
  const result = validateOptions(definition, {});
  return !("fault" in result) && result.issues === undefined;
}

/**
 * Every instance the config amounts to. The default parsers come first, so that a listed one of another type wins a path that
 * both serve; the other defaults come last.
 */
export function allInstances(
  config: Omit<RouterConfig, "plugins">,
  listed: ListedPlugins,
  registry: Registry,
): readonly Instance[] {
  const unlisted = (type: string, parameters: unknown = {}) => unlistedInstance(type, registry, parameters);
  const missing = (types: readonly string[]) =>
    types.filter((type) => listedOfType(type, listed).length === 0 && !listed.withoutDefaults.has(type));
  const { endpoints } = config.pool;
  const ofProfile = config.profile.plugins.map(({ pluginRef }) => pluginRef).filter((name) => !listed.instances.has(name));
  return [
    ...missing(DEFAULT_PARSERS).map((type) => unlisted(type)),
    ...listed.instances.values(),
    ...(config.rewrites.length > 0 ? [unlisted("model-rewrite", { rules: config.rewrites })] : []),
    ...(endpoints.length > 0 ? [unlisted("static", { endpoints })] : []),
    ...missing([...DEFAULT_SOURCES, ...DEFAULT_DETECTORS, ...DEFAULT_OBSERVERS]).map((type) => unlisted(type)),
    ...ofProfile.map((type) => unlisted(type)),
  ];
}

/** An instance that no file lists, under the name of its type. Throws when the registry has no such type that takes this. */
function unlistedInstance(name: string, registry: Registry, parameters: unknown): Instance {
  const definition = registry.get(name);
  if (definition === undefined) throw new Error(`The registry has no plugin type "${name}", which is on by default`);
  const { type } = definition;
  const result = validateOptions(definition, parameters);
  if ("fault" in result || result.issues !== undefined)
    throw new Error(`The plugin type "${type}" does not take the parameters it is given by default`);
  const entry = { name, type, from: undefined, parameters: result.value, position: undefined };
  return { entry, definition, path: [], report: () => {} };
}
