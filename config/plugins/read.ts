import { lineOfText, z } from "../../core/contract/options.ts";
import type { Secret } from "../../core/contract/secret.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { Place } from "../read/documents.ts";
import { folderOf } from "../read/files.ts";
import { reportIssues } from "../read/issues.ts";
import { didYouMean, type Finding, type Path, quoted } from "../read/problems.ts";
import { readSecret } from "../read/secret.ts";
import { instanceName } from "../schema/values.ts";
import { configuredBy } from "./defaults.ts";
import { ownTypes, type Registry, validateOptions } from "./instances.ts";
import type { Instance, ReadPlugins, RunningPlugins } from "./listed.ts";
import { type LoadedPlugin, loadPluginModule, pluginFiles } from "./load-plugin.ts";
import { REFUSED_TYPES, SECTION_TYPES } from "./refused-types.ts";

/** One entry of `spec.plugins`. */
export const pluginEntry = z.strictObject({
  type: z.string().describe("A built-in plugin type. Either this or `from`.").optional(),
  from: lineOfText
    .describe("A module with your own plugin: ./file.ts (relative to this file) or a package. Either this or `type`.")
    .optional(),
  name: instanceName.describe("Name of this instance in profiles. Default: its type.").optional(),
  parameters: z.unknown().describe("Options of the plugin.").optional(),
});

/** An unchecked entry and its place. */
export interface PluginSource {
  readonly spec: z.infer<typeof pluginEntry>;
  readonly path: Path;
  readonly place: Place;
}

/**
 * Finds or loads the type of each entry and validates its parameters. Adds the files of loaded plugins to `files`. A module that is in
 * `running` is not loaded again.
 */
export async function readPlugins(
  sources: readonly PluginSource[],
  registry: Registry,
  files: Set<string>,
  running?: RunningPlugins,
): Promise<ReadPlugins> {
  const instances = new Map<string, Instance>();
  const brokenNames = new Set<string>();
  let hasNamelessBroken = false;
  for (const source of sources) {
    const { type, from } = source.spec;
    if (from !== undefined) await note(from, source.place, files);
    const found = runningType(source, running) ?? (await findType(source, registry));
    const name = source.spec.name ?? type ?? found?.definition.type;
    const checked = found && name !== undefined ? instanceOf(name, found, source) : undefined;
    const instance = checked && (await prepared(checked, source.place, files));
    if (name === undefined) hasNamelessBroken = true;
    else if (instance === undefined) brokenNames.add(name);
    else if (isNameFree(instance, instances, registry)) instances.set(name, instance);
  }
  return { instances, brokenNames, hasNamelessBroken };
}

/** Before they are loaded: whoever corrects a file that can't be loaded must be noticed too. */
async function note(from: string, { file }: Place, files: Set<string>): Promise<void> {
  for (const path of await pluginFiles(from, folderOf(file)).catch(() => [])) files.add(path);
}

function runningType(
  { spec: { from, type }, place }: PluginSource,
  running: RunningPlugins | undefined,
): LoadedPlugin | undefined {
  if (from === undefined || type !== undefined) return undefined;
  const folder = folderOf(place.file);
  const entry = running?.config.plugins.find((each) => each.from === from && each.folder === folder);
  const definition = entry && running?.definitions.get(entry.name);
  return definition && { definition, file: entry?.file ?? "" };
}

const EITHER = "type for a built-in plugin, or from for a module";

async function findType({ spec, path, place }: PluginSource, registry: Registry): Promise<LoadedPlugin | undefined> {
  const { type, from } = spec;
  const refuse = (key: readonly string[], finding: Finding, part?: "key") => {
    place.report([...path, ...key], finding, part);
    return undefined;
  };
  if (type !== undefined && from !== undefined) return refuse(["from"], { found: "both type and from", wanted: EITHER }, "key");
  if (from !== undefined) {
    return loadPluginModule(from, folderOf(place.file)).catch((error: Error) =>
      refuse(["from"], { found: `the module ${quoted(from)}, which can't be used`, hint: error.message }),
    );
  }
  if (type === undefined) return refuse([], { found: 'neither "type" nor "from"', wanted: EITHER });
  const definition = registry.get(type);
  const elsewhere = definition === undefined ? "" : configuredBy(definition);
  if (elsewhere !== "")
    return refuse(["type"], { found: `the plugin type ${quoted(type)}, which runs by itself`, wanted: `${elsewhere} instead` });
  if (definition !== undefined) return { definition, file: "" };
  const hint = REFUSED_TYPES.get(type);
  if (hint === undefined)
    return refuse(["type"], {
      found: `the unknown plugin type ${quoted(type)}`,
      wanted: "a built-in type",
      hint: () => typeHint(type, registry),
    });
  return refuse(["type"], {
    found: `the plugin type ${quoted(type)} of the reference router, which ${SECTION_TYPES.has(type) ? "is no plugin here" : "has no counterpart here"}`,
    hint,
  });
}

function typeHint(type: string, registry: Registry): string {
  if (/^\.|\/|\.[cm]?[jt]s$/.test(type)) return "A module of your own is loaded by from.";
  const types = ownTypes(registry).map((definition) => definition.type);
  return didYouMean(type, registry.keys()) || `The types are: ${types.join(", ")}.`;
}

function instanceOf(name: string, { definition, file }: LoadedPlugin, { spec, path, place }: PluginSource): Instance | undefined {
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
  const [folder, position] = [folderOf(place.file), place.positionOf(path)];
  const entry = { name, type, from: spec.from, file, parameters: result.value, folder, position };
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
  const found = `the parser ${quoted(type)} a second time, beside ${quoted(twin.entry.name)}`;
  report(path, { found, wanted: "one for each API" });
  return false;
}
