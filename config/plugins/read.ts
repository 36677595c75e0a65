import { dirname } from "node:path";
import type { Secret } from "../../core/contract/secret.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { didYouMean } from "../read/did-you-mean.ts";
import type { Place } from "../read/documents.ts";
import { reportIssues } from "../read/issues.ts";
import { type Path, quoted } from "../read/problems.ts";
import { readSecret } from "../read/secret.ts";
import { CONFIGURED_ELSEWHERE } from "./defaults.ts";
import { ownTypes, type Registry, validateOptions } from "./instances.ts";
import type { Instance, ListedPlugins } from "./listed.ts";
import { type LoadedPlugin, loadPluginModule, pluginFiles } from "./load-plugin.ts";
import { REFUSED_TYPES } from "./refused-types.ts";
import type { PluginSpec } from "./schema.ts";

/** An unchecked entry and its place. */
export interface PluginSource {
  readonly spec: PluginSpec;
  readonly path: Path;
  readonly place: Place;
}

export type ReadPlugins = Omit<ListedPlugins, "withoutDefaults">;

/** Finds or loads the type of each entry and validates its parameters. Adds the files of loaded plugins to `files`. */
export async function readPlugins(
  sources: readonly PluginSource[],
  registry: Registry,
  files: Set<string>,
): Promise<ReadPlugins> {
  const instances = new Map<string, Instance>();
  const brokenNames = new Set<string>();
  let hasNamelessBroken = false;
  for (const { spec, path, place } of sources) {
    if (spec.from !== undefined) await note(spec.from, place, files);
    const found = await findType(spec, path, registry, place);
    const name = spec.name ?? spec.type ?? found?.definition.type;
    const checked = found && name !== undefined ? instanceOf(name, found, spec, path, place) : undefined;
    const instance = checked && (await prepared(checked, place, files));
    if (name === undefined) hasNamelessBroken = true;
    else if (instance === undefined) brokenNames.add(name);
    else if (isNameFree(instance, instances, registry)) instances.set(name, instance);
  }
  return { instances, brokenNames, hasNamelessBroken };
}

/** Before they are loaded: whoever corrects a file that can't be loaded must be noticed too. */
async function note(from: string, { file }: Place, files: Set<string>): Promise<void> {
  for (const path of await pluginFiles(from, dirname(file)).catch(() => [])) files.add(path);
}

async function findType(
  { type, from }: PluginSpec,
  path: Path,
  registry: Registry,
  { file, report }: Place,
): Promise<LoadedPlugin | undefined> {
  if (type !== undefined && from !== undefined) {
    report([...path, "from"], { found: "both type and from", wanted: "type for a built-in plugin, or from for a module" }, "key");
    return undefined;
  }
  if (from !== undefined) {
    return loadPluginModule(from, dirname(file)).catch((error: Error) => {
      report([...path, "from"], { found: `the module ${quoted(from)}, which can't be used`, hint: error.message });
      return undefined;
    });
  }
  if (type === undefined) {
    report(path, { found: 'neither "type" nor "from"', wanted: "type for a built-in plugin, or from for a module" });
    return undefined;
  }
  const elsewhere = CONFIGURED_ELSEWHERE.get(type);
  if (elsewhere !== undefined) {
    report([...path, "type"], {
      found: `the plugin type ${quoted(type)}, which runs by itself`,
      wanted: `${elsewhere} instead`,
    });
    return undefined;
  }
  const definition = registry.get(type);
  if (definition === undefined) {
    const instead = REFUSED_TYPES.get(type);
    report(
      [...path, "type"],
      instead === undefined
        ? { found: `the unknown plugin type ${quoted(type)}`, wanted: "a built-in type", hint: typeHint(type, registry) }
        : { found: `the plugin type ${quoted(type)} of the reference router, which has no counterpart here`, hint: instead },
    );
  }
  return definition && { definition, file: "" };
}

function typeHint(type: string, registry: Registry): string {
  if (/^\.|\/|\.[cm]?[jt]s$/.test(type)) return "A module of your own is loaded by from.";
  return (
    didYouMean(type, registry.keys()) ||
    `The types are: ${ownTypes(registry)
      .map((definition) => definition.type)
      .join(", ")}.`
  );
}

function instanceOf(
  name: string,
  { definition, file }: LoadedPlugin,
  spec: PluginSpec,
  path: Path,
  place: Place,
): Instance | undefined {
  const { type, options: schema } = definition;
  const { report } = place;
  const value = spec.parameters ?? {};
  const result = validateOptions(definition, value);
  if ("fault" in result) {
    report(path, { found: `options of ${quoted(type)} that can't be validated: ${result.fault}` });
    return undefined;
  }
  if (result.issues !== undefined) {
    reportIssues(result.issues, { schema, value, base: [...path, "parameters"], report });
    return undefined;
  }
  const entry = {
    name,
    type,
    from: spec.from,
    file,
    parameters: result.value,
    folder: dirname(place.file),
    position: place.positionOf(path),
  };
  return { entry, definition, path, report };
}

/** Reads the secrets of its parameters, and loads what the type needs. Reports what fails and resolves to undefined then. */
async function prepared(instance: Instance, place: Place, files: Set<string>): Promise<Instance | undefined> {
  const { definition, entry, path } = instance;
  const secrets = new Map<string, Secret>();
  try {
    const wanted = definition.secrets?.(entry.parameters) ?? [];
    for (const from of wanted) {
      const secret = await readSecret(from, [...path, "parameters"], place, files);
      if (secret !== undefined) secrets.set(from, secret);
    }
    await definition.load?.();
    if (secrets.size < new Set(wanted).size) return undefined;
    return secrets.size === 0 ? instance : { ...instance, entry: { ...entry, secrets } };
  } catch (thrown) {
    place.report(path, { found: `the plugin type ${quoted(entry.type)}, which can't be loaded`, hint: thrownMessage(thrown) });
    return undefined;
  }
}

function isNameFree(
  { entry, definition, path, report }: Instance,
  others: ReadonlyMap<string, Instance>,
  registry: Registry,
): boolean {
  const { name, type } = entry;
  const builtIn = registry.get(name);
  // The reference router's name for a type means the same type with other parameters.
  if (builtIn !== undefined && (entry.from !== undefined || builtIn.type !== type)) {
    report([...path, "name"], { found: `the name ${quoted(name)}, which is a built-in type`, wanted: "a name of its own" });
    return false;
  }
  if (others.has(name)) {
    report([...path, "name"], {
      found: `the plugin name ${quoted(name)} a second time`,
      wanted: "a name of its own for each entry",
    });
    return false;
  }
  if (definition.kind !== "parser") return true;
  const twin = [...others.values()].find((other) => other.definition === definition);
  if (twin === undefined) return true;
  report(path, {
    found: `the parser ${quoted(type)} a second time, beside ${quoted(twin.entry.name)}`,
    wanted: "one for each API",
  });
  return false;
}
