import { isOwnKind } from "../../core/contract/kinds.ts";
import type { SchemaResult } from "../../core/contract/options.ts";
import type { Definition, PluginKind } from "../../core/contract/plugin.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { ProfileConfig, SettledConfig } from "../../core/router-config.ts";
import { type Problem, problemAt, quoted } from "../read/problems.ts";
import type { Instance, ListedPlugins, PluginParameters } from "./listed.ts";
import { isOfOther, ownInstances } from "./own-instances.ts";

/**
 * Plugin types by the names that a config can use. A key other than its definition's `type` is the reference router's name for
 * it.
 */
export type Registry = ReadonlyMap<string, Definition>;

/** The types by their own names, without the reference router's. */
export function ownTypes(registry: Registry): readonly Definition[] {
  return [...registry].filter(([name, { type }]) => name === type).map(([, definition]) => definition);
}

/** The types that run where the config lists no entry of them, in the registry's order. */
export function defaultTypes(registry: Registry): readonly Definition[] {
  return ownTypes(registry).filter(({ runsByDefault }) => runsByDefault);
}

/** The parsers among them, by name. */
export function defaultParsers(registry: Registry): readonly string[] {
  return defaultTypes(registry).flatMap(({ kind, type }) => (kind === "parser" ? [type] : []));
}

/** Whether plugins of this kind are named in a profile. */
export function isProfileKind(kind: PluginKind): boolean {
  return kind === "filter" || kind === "scorer" || kind === "picker";
}

const byType = new WeakMap<ListedPlugins["instances"], ReadonlyMap<string, readonly Instance[]>>();

/** The listed instances of a built-in type. */
export function listedOfType(type: string, { instances }: ListedPlugins): readonly Instance[] {
  const index = byType.get(instances) ?? indexed(instances);
  byType.set(instances, index);
  return index.get(type) ?? [];
}

function indexed(instances: ListedPlugins["instances"]): ReadonlyMap<string, readonly Instance[]> {
  const index = new Map<string, Instance[]>();
  for (const instance of instances.values()) {
    const { type, from } = instance.entry;
    const others = index.get(type);
    if (from !== undefined) continue;
    if (others === undefined) index.set(type, [instance]);
    else others.push(instance);
  }
  return index;
}

/** Validates parameters with the plugin's schema. `fault`: why the schema itself failed. */
export function validateOptions({ options }: Definition, value: unknown): SchemaResult<unknown> | { readonly fault: string } {
  try {
    const result = options["~standard"].validate(value);
    if (!(result instanceof Promise)) return result;
    result.catch(() => {});
    return { fault: "its schema is asynchronous" };
  } catch (error) {
    return { fault: thrownMessage(error) };
  }
}

/** Whether a type can be used without parameters. */
export function needsNoParameters(definition: Definition): boolean {
  const result = validateOptions(definition, {});
  return !("fault" in result) && result.issues === undefined;
}

/**
 * All instances of the config, defaults included. The default parsers come first, so that a listed parser of another type
 * wins a path that both serve. The other defaults come last. `needed`: types that features need, unless another of the kind is listed.
 */
export function allInstances(
  config: SettledConfig,
  listed: ListedPlugins,
  registry: Registry,
  ofFeatures: readonly PluginParameters[] = [],
  needed: readonly string[] = [],
): readonly Instance[] {
  const unlisted = (type: string, parameters: unknown = {}) => unlistedInstance(type, registry, parameters);
  const missing = defaultTypes(registry).filter(
    ({ type }) => listedOfType(type, listed).length === 0 && !listed.withoutDefaults.has(type),
  );
  const isParser = ({ kind }: Definition) => kind === "parser";
  const { endpoints } = config.pool;
  const kinds = new Set<PluginKind | undefined>([...listed.instances.values()].map(({ definition }) => definition.kind));
  const ofProfile = config.profile.plugins.map(({ pluginRef }) => pluginRef).filter((name) => !listed.instances.has(name));
  return [
    ...missing.filter(isParser).map(({ type }) => unlisted(type)),
    ...listed.instances.values(),
    ...(config.rewrites.length > 0 ? [unlisted("model-rewrite", rewriteParameters(config))] : []),
    ...ofFeatures.map(({ type, parameters }) => unlisted(type, parameters)),
    ...(endpoints.length > 0 ? [unlisted("static", { endpoints })] : []),
    ...missing.filter((each) => !isParser(each)).map(({ type }) => unlisted(type)),
    ...needed.filter((type) => !kinds.has(registry.get(type)?.kind)).map((type) => unlisted(type)),
    ...ofProfile.map((type) => unlisted(type)),
    ...ownInstances(config.others, listed, unlisted),
  ];
}

function rewriteParameters({ rewrites, shuffled }: SettledConfig) {
  return { rules: rewrites, ...(shuffled.size > 0 && { shuffled: [...shuffled] }) };
}

/**
 * An instance that no file lists, named after its type. Throws an Error if the registry has no such type or it rejects the
 * parameters.
 */
function unlistedInstance(name: string, registry: Registry, parameters: unknown): Instance {
  const definition = registry.get(name);
  if (definition === undefined) throw new Error(`The registry has no plugin type "${name}", which is on by default`);
  const { type } = definition;
  const result = validateOptions(definition, parameters);
  if ("fault" in result || result.issues !== undefined)
    throw new Error(`The plugin type "${type}" does not take the parameters it is given by default`);
  const entry = { name, type, from: undefined, file: "", parameters: result.value, folder: ".", position: undefined };
  return { entry, definition, path: [], report: () => {} };
}

/** A warning for each listed filter, scorer and picker that no profile uses, and for each plugin of a kind that no other plugin calls. */
export function unusedPlugins(profiles: readonly ProfileConfig[], instances: readonly Instance[]): readonly Problem[] {
  const used = new Set(profiles.flatMap(({ plugins }) => plugins.map(({ pluginRef }) => pluginRef)));
  const called = new Set(instances.flatMap(({ definition }) => definition.uses ?? []));
  return instances.flatMap(({ entry: { name, position }, definition: { kind }, path }) => {
    if (position !== undefined && isOwnKind(kind) && !called.has(kind)) {
      const found = `the ${kind} ${quoted(name)}, which no listed plugin calls`;
      return [problemAt(position, path, { found, wanted: `a plugin whose definition has uses: ["${kind}"], or no entry` })];
    }
    if (position === undefined || isOfOther(name) || used.has(name) || !isProfileKind(kind)) return [];
    const found = `the ${kind} ${quoted(name)}, which the profile does not name`;
    return [problemAt(position, path, { found, wanted: `{ pluginRef: ${name} } in the profile, or no entry` })];
  });
}
