import type { Definition, PluginKind } from "../../core/contract/plugin.ts";
import type { ProfileConfig, ProfileRef } from "../../core/router-config.ts";
import { DEFAULT_FILTERS, DEFAULT_PICKER, DEFAULT_SCORERS } from "../plugins/defaults.ts";
import { isProfileKind, listedOfType, needsNoParameters, type Registry } from "../plugins/instances.ts";
import type { ListedPlugins, PlacedDefinition } from "../plugins/listed.ts";
import { didYouMean, type Finding, type Path, quoted, type Report } from "../read/problems.ts";
import type { WrittenProfile, WrittenRef } from "../schema/profile.ts";

/** A profile from a document, and the defaults of that kind of document. */
export interface ProfileSource {
  /** Undefined if the document has none; then the listed plugins are the profile. */
  readonly profile: ProfileEntry | undefined;
  readonly report: Report;
  /** The path of that document's plugin list. */
  readonly pluginsAt: string;
  /** Used if neither a profile nor a scorer is listed. */
  readonly scorers: readonly (readonly [type: string, weight: number])[];
  /** Whether a profile without a picker uses a listed one. */
  readonly takesListedPicker: boolean;
}

export interface ProfileEntry {
  readonly name?: string | undefined;
  readonly refs: readonly RefEntry[];
  /** Nothing is put in front of what it lists. */
  readonly unguarded: boolean;
}

export interface RefEntry extends WrittenRef {
  readonly path: Path;
}

/** A profile of a Router document, which is at `path`. */
export function routerProfile(written: WrittenProfile | undefined, path: Path, report: Report): ProfileSource {
  const profile = written && { ...written, refs: refsAt([...path, "plugins"], written.plugins) };
  return { profile, report, pluginsAt: "spec.plugins", scorers: DEFAULT_SCORERS, takesListedPicker: false };
}

/** The references of a document's profile, whose list is at `path`. */
export function refsAt(path: Path, refs: readonly WrittenRef[]): readonly RefEntry[] {
  return refs.map((ref, index) => ({ ...ref, path: [...path, index] }));
}

/** A resolved reference and its place. */
interface FoundRef extends PlacedDefinition {
  readonly name: string;
  readonly weight: number | undefined;
}

interface Surroundings {
  readonly source: ProfileSource;
  readonly listed: ListedPlugins;
  readonly registry: Registry;
}

/** Reads the profile and fills in its defaults. Reports problems. */
export function readProfile(source: ProfileSource, listed: ListedPlugins, registry: Registry): ProfileConfig {
  const surroundings = { source, listed, registry };
  const { profile } = source;
  const refs = profile === undefined ? refsToListed(listed) : profile.refs.flatMap((ref) => resolve(ref, surroundings));
  refuseRepeats(refs);
  return { name: profile?.name ?? "default", plugins: complete(refs, surroundings) };
}

function refsToListed({ instances }: ListedPlugins): readonly FoundRef[] {
  return [...instances.values()]
    .filter(({ definition }) => isProfileKind(definition.kind))
    .map(({ entry: { name }, ...instance }) => ({ ...instance, name, weight: undefined }));
}

function resolve({ pluginRef: name, weight, path }: RefEntry, surroundings: Surroundings): readonly FoundRef[] {
  const { report } = surroundings.source;
  const definition = definitionOf(name, surroundings);
  if (definition === undefined) return [];
  if ("found" in definition) {
    report([...path, "pluginRef"], definition);
    return [];
  }
  const { kind } = definition;
  if (typeof weight === "number" && kind !== "scorer") {
    const found = `a weight on ${quoted(name)}, which is a ${kind}`;
    report([...path, "weight"], { found, wanted: "weights on scorers only" }, "key");
  }
  return [{ name, definition, weight: weight ?? undefined, path, report }];
}

/** The type of the plugin that a name refers to, or what is wrong with it; undefined for a problem that is already reported. */
function definitionOf(name: string, { source, listed, registry }: Surroundings): Definition | Finding | undefined {
  const { pluginsAt } = source;
  const { instances, brokenNames, hasNamelessBroken } = listed;
  const instance = instances.get(name);
  if (instance === undefined && (hasNamelessBroken || brokenNames.has(name))) return undefined;
  const definition = instance?.definition ?? registry.get(name);
  if (definition === undefined) {
    const wanted = `the name of an entry in ${pluginsAt}, or a built-in type`;
    const hint = () => didYouMean(name, [...instances.keys(), ...registry.keys()]);
    return { found: `${quoted(name)}, which is not the name of a plugin`, wanted, hint };
  }
  const [namesake] = instance === undefined ? listedOfType(definition.type, listed) : [];
  if (namesake !== undefined)
    return { found: `the type ${quoted(name)}, which is listed under another name`, wanted: quoted(namesake.entry.name) };
  if (instance === undefined && !needsNoParameters(definition))
    return { found: `${quoted(name)} without the parameters it needs`, wanted: `an entry in ${pluginsAt} that gives them` };
  const { kind } = definition;
  if (isProfileKind(kind)) return definition;
  const hint = `A ${kind} runs without being in a profile.`;
  return { found: `${quoted(name)}, which is a ${kind}`, wanted: "a filter, scorer or picker", hint };
}

function refuseRepeats(refs: readonly FoundRef[]): void {
  const seen = new Set<string>();
  for (const { name, path, report } of refs) {
    if (seen.has(name))
      report([...path, "pluginRef"], { found: `${quoted(name)} a second time`, wanted: "each plugin once in a profile" });
    seen.add(name);
  }
  const [first, second] = refs.filter(({ definition }) => definition.kind === "picker");
  if (first === undefined || second === undefined) return;
  const found = `a second picker, ${quoted(second.name)}, beside ${quoted(first.name)}`;
  second.report(second.path, { found, wanted: "one picker" });
}

/** Puts the default filters in front, and adds a missing picker, and default scorers if there is no profile. */
function complete(refs: readonly FoundRef[], { source, listed, registry }: Surroundings): readonly ProfileRef[] {
  const { profile } = source;
  const has = (kind: PluginKind) => refs.some(({ definition }) => definition.kind === kind);
  const filters = profile?.unguarded ? [] : DEFAULT_FILTERS.map((type) => defaultFilterRefs(type, refs, listed, registry));
  const inFront = new Set(filters.flat());
  const scorers = profile !== undefined || has("scorer") ? [] : source.scorers;
  const picker = has("picker") ? [] : [defaultPicker(source, listed)];
  return [
    ...[...inFront].map((pluginRef) => ({ pluginRef })),
    ...refs
      .filter(({ name }) => !inFront.has(name))
      .map(({ name, definition, weight = 1 }) => ({ pluginRef: name, ...(definition.kind === "scorer" && { weight }) })),
    ...scorers.map(([type, weight]) => ({ pluginRef: nameOfType(type, listed), weight })),
    ...picker.map((pluginRef) => ({ pluginRef })),
  ];
}

/** The profile's own instances of a default filter, wherever it lists them; else the listed one, or the type with its defaults. */
function defaultFilterRefs(
  type: string,
  refs: readonly FoundRef[],
  listed: ListedPlugins,
  registry: Registry,
): readonly string[] {
  const own = refs.filter(({ definition }) => definition === registry.get(type)).map(({ name }) => name);
  return own.length > 0 ? own : [nameOfType(type, listed)];
}

function defaultPicker({ takesListedPicker }: ProfileSource, listed: ListedPlugins): string {
  const pickers = [...listed.instances.values()].filter(({ definition }) => definition.kind === "picker");
  return (takesListedPicker ? pickers[0]?.entry.name : undefined) ?? nameOfType(DEFAULT_PICKER, listed);
}

/** The name of the listed instance of this type; the type's name if none is listed. */
function nameOfType(type: string, listed: ListedPlugins): string {
  return listedOfType(type, listed)[0]?.entry.name ?? type;
}

/** The default filters that a profile lacks; they are left out only where it is `unguarded`. */
export function missingFilters({ plugins }: ProfileConfig, definitions: ReadonlyMap<string, Definition>): readonly string[] {
  const types = new Set(plugins.map(({ pluginRef }) => definitions.get(pluginRef)?.type));
  return DEFAULT_FILTERS.filter((type) => !types.has(type));
}
