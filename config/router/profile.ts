import type { Definition, PluginKind } from "../../core/contract/plugin.ts";
import type { ProfileConfig, ProfileRef } from "../config.ts";
import { DEFAULT_PICKER, DEFAULT_SCORERS, GUARDS } from "../plugins/defaults.ts";
import { isProfileKind, listedOfType, needsNoParameters, type Registry } from "../plugins/instances.ts";
import type { ListedPlugins } from "../plugins/listed.ts";
import { didYouMean } from "../read/did-you-mean.ts";
import { type Path, quoted, type Report } from "../read/problems.ts";
import type { WrittenProfile, WrittenRef } from "../schema/profile.ts";

/** A profile from a document, and the defaults of that kind of document. */
export interface ProfileSource {
  /** Undefined if the document has none; then the listed plugins are the profile. */
  readonly profile: ProfileEntry | undefined;
  readonly report: Report;
  /** The path of that document's plugin list. */
  readonly pluginsAt: string;
  readonly defaults: ProfileDefaults;
}

export interface ProfileEntry {
  readonly name: string | undefined;
  readonly refs: readonly RefEntry[];
  /** Nothing is put in front of what it lists. */
  readonly isUnguarded: boolean;
}

interface RefEntry {
  readonly pluginRef: string;
  readonly weight: number | undefined;
  readonly path: Path;
}

export interface ProfileDefaults {
  /** Used if neither a profile nor a scorer is listed. */
  readonly scorers: readonly (readonly [type: string, weight: number])[];
  /** Whether a profile without a picker uses a listed one. */
  readonly takesListedPicker: boolean;
}

const ROUTER_DEFAULTS: ProfileDefaults = { scorers: DEFAULT_SCORERS, takesListedPicker: false };

/** A profile of a Router document, which is at `path`. */
export function routerProfile(written: WrittenProfile | undefined, path: Path, report: Report): ProfileSource {
  const profile = written && {
    name: written.name,
    refs: refsAt([...path, "plugins"], written.plugins),
    isUnguarded: written.unguarded,
  };
  return { profile, report, pluginsAt: "spec.plugins", defaults: ROUTER_DEFAULTS };
}

/** The references of a document's profile, whose list is at `path`. */
export function refsAt(path: Path, refs: readonly WrittenRef[]): readonly RefEntry[] {
  return refs.map(({ pluginRef, weight }, index) => ({ pluginRef, weight: weight ?? undefined, path: [...path, index] }));
}

/** A resolved reference and its place. */
interface FoundRef {
  readonly name: string;
  readonly definition: Definition;
  readonly weight: number | undefined;
  readonly path: Path;
  readonly report: Report;
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
  refuseSecondPicker(refs);
  return { name: profile?.name ?? "default", plugins: complete(refs, surroundings) };
}

function refsToListed({ instances }: ListedPlugins): readonly FoundRef[] {
  return [...instances.values()].flatMap(({ entry: { name }, definition, path, report }) =>
    isProfileKind(definition.kind) ? [{ name, definition, weight: undefined, path, report }] : [],
  );
}

function resolve({ pluginRef: name, weight, path }: RefEntry, surroundings: Surroundings): readonly FoundRef[] {
  const { report } = surroundings.source;
  const definition = definitionOf(name, [...path, "pluginRef"], surroundings);
  if (definition === undefined) return [];
  const { kind } = definition;
  if (!isProfileKind(kind)) {
    report([...path, "pluginRef"], {
      found: `${quoted(name)}, which is a ${kind}`,
      wanted: "a filter, scorer or picker",
      hint: `A ${kind} runs without being in a profile.`,
    });
    return [];
  }
  if (weight !== undefined && kind !== "scorer") {
    report(
      [...path, "weight"],
      { found: `a weight on ${quoted(name)}, which is a ${kind}`, wanted: "weights on scorers only" },
      "key",
    );
  }
  return [{ name, definition, weight, path, report }];
}

/** The type of the plugin that a name refers to. Reports a problem and returns undefined if there is none. */
function definitionOf(name: string, path: Path, { source, listed, registry }: Surroundings): Definition | undefined {
  const { report, pluginsAt } = source;
  const instance = listed.instances.get(name);
  if (instance !== undefined) return instance.definition;
  if (listed.hasNamelessBroken || listed.brokenNames.has(name)) return undefined;
  const definition = registry.get(name);
  const names = [...listed.instances.keys()];
  if (definition === undefined) {
    const hint = didYouMean(name, [...names, ...registry.keys()]);
    report(path, {
      found: `${quoted(name)}, which is not the name of a plugin`,
      wanted: `the name of an entry in ${pluginsAt}, or a built-in type`,
      hint,
    });
    return undefined;
  }
  const [namesake] = listedOfType(definition.type, listed);
  if (namesake !== undefined) {
    report(path, {
      found: `the type ${quoted(name)}, which is listed under another name`,
      wanted: quoted(namesake.entry.name),
    });
    return undefined;
  }
  if (needsNoParameters(definition)) return definition;
  report(path, {
    found: `${quoted(name)} without the parameters it needs`,
    wanted: `an entry in ${pluginsAt} that gives them`,
  });
  return undefined;
}

function refuseRepeats(refs: readonly FoundRef[]): void {
  const seen = new Set<string>();
  for (const { name, path, report } of refs) {
    if (seen.has(name))
      report([...path, "pluginRef"], { found: `${quoted(name)} a second time`, wanted: "each plugin once in a profile" });
    seen.add(name);
  }
}

function refuseSecondPicker(refs: readonly FoundRef[]): void {
  const [first, second] = refs.filter(({ definition }) => definition.kind === "picker");
  if (first === undefined || second === undefined) return;
  second.report(second.path, {
    found: `a second picker, ${quoted(second.name)}, beside ${quoted(first.name)}`,
    wanted: "one picker",
  });
}

/** Puts the guards in front, and adds a missing picker, and default scorers if there is no profile. */
function complete(refs: readonly FoundRef[], { source, listed, registry }: Surroundings): readonly ProfileRef[] {
  const { profile, defaults } = source;
  const has = (kind: PluginKind) => refs.some(({ definition }) => definition.kind === kind);
  const guards = profile?.isUnguarded ? [] : GUARDS.map((type) => guardRefs(type, refs, listed, registry));
  const inFront = new Set(guards.flat());
  const scorers = profile !== undefined || has("scorer") ? [] : defaults.scorers;
  const picker = has("picker") ? [] : [defaultPicker(defaults, listed)];
  return [
    ...[...inFront].map((pluginRef) => ({ pluginRef })),
    ...refs
      .filter(({ name }) => !inFront.has(name))
      .map(({ name, definition: { kind }, weight }) =>
        kind === "scorer" ? { pluginRef: name, weight: weight ?? 1 } : { pluginRef: name },
      ),
    ...scorers.map(([type, weight]) => ({ pluginRef: nameOfType(type, listed), weight })),
    ...picker.map((pluginRef) => ({ pluginRef })),
  ];
}

/** The profile's own instances of a guard, wherever it lists them; else the listed one, or the type with its defaults. */
function guardRefs(type: string, refs: readonly FoundRef[], listed: ListedPlugins, registry: Registry): readonly string[] {
  const own = refs.filter(({ definition }) => definition === registry.get(type)).map(({ name }) => name);
  return own.length > 0 ? own : [nameOfType(type, listed)];
}

function defaultPicker({ takesListedPicker }: ProfileDefaults, listed: ListedPlugins): string {
  const pickers = [...listed.instances.values()].filter(({ definition }) => definition.kind === "picker");
  return (takesListedPicker ? pickers[0]?.entry.name : undefined) ?? nameOfType(DEFAULT_PICKER, listed);
}

/** The name of the listed instance of this type; the type's name if none is listed. */
function nameOfType(type: string, listed: ListedPlugins): string {
  return listedOfType(type, listed)[0]?.entry.name ?? type;
}

/** The guards that a profile lacks; they are left out only where it is `unguarded`. */
export function missingGuards({ plugins }: ProfileConfig, definitions: ReadonlyMap<string, Definition>): readonly string[] {
  const types = new Set(plugins.map(({ pluginRef }) => definitions.get(pluginRef)?.type));
  return GUARDS.filter((type) => !types.has(type));
}
