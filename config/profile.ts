import type { Definition, PluginKind } from "../core/plugin.ts";
import type { ProfileConfig, ProfileRef } from "./config.ts";
import { DEFAULT_FILTERS, DEFAULT_PICKER, DEFAULT_PROFILE, DEFAULT_SCORER } from "./defaults.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type ListedPlugins, listedOfType, needsNoParameters, type Registry } from "./instances.ts";
import { type Complain, type Path, quoted } from "./problems.ts";
import type { ProfileSpec } from "./schema.ts";

/** A reference whose plugin was found, and where it stands. */
interface FoundRef {
  readonly name: string;
  readonly kind: PluginKind;
  readonly weight: number | undefined;
  readonly path: Path;
}

interface Surroundings {
  readonly listed: ListedPlugins;
  readonly registry: Registry;
  readonly complain: Complain;
}

/** The profile with what it leaves out filled in; without a profile, the listed plugins make one. */
export function readProfile(profiles: readonly ProfileSpec[], surroundings: Surroundings): ProfileConfig {
  const { listed, complain } = surroundings;
  if (profiles.length > 1) complain(["spec", "profiles", 1], { found: `${profiles.length} profiles`, wanted: "exactly one" });
  const [profile] = profiles;
  if (profile === undefined) {
    const refs = refsToListed(listed);
    refuseSecondPicker(refs, complain);
    return { name: DEFAULT_PROFILE.name, plugins: complete(refs, listed, true) };
  }
  const refs = (profile.plugins ?? []).flatMap((ref, index) =>
    resolve(ref, ["spec", "profiles", 0, "plugins", index], surroundings),
  );
  refuseRepeats(refs, complain);
  refuseSecondPicker(refs, complain);
  return { name: profile.name ?? DEFAULT_PROFILE.name, plugins: complete(refs, listed, false) };
}

function refsToListed({ instances }: ListedPlugins): readonly FoundRef[] {
  return [...instances.values()].flatMap(({ entry: { name }, definition: { kind }, path }) =>
    isProfileKind(kind) ? [{ name, kind, weight: undefined, path }] : [],
  );
}

function resolve(
  ref: { readonly pluginRef: string; readonly weight?: number | undefined },
  path: Path,
  surroundings: Surroundings,
): readonly FoundRef[] {
  const { pluginRef: name, weight } = ref;
  const { complain } = surroundings;
  const definition = definitionOf(name, [...path, "pluginRef"], surroundings);
  if (definition === undefined) return [];
  const { kind } = definition;
  if (!isProfileKind(kind)) {
    complain([...path, "pluginRef"], {
      found: `${quoted(name)}, which is a ${kind}`,
      wanted: "a filter, scorer or picker",
      hint: `A ${kind} runs without being in a profile.`,
    });
    return [];
  }
  if (weight !== undefined && kind !== "scorer") {
    complain(
      [...path, "weight"],
      { found: `a weight on ${quoted(name)}, which is a ${kind}`, wanted: "weights on scorers only" },
      "key",
    );
  }
  return [{ name, kind, weight, path }];
}

function isProfileKind(kind: PluginKind): boolean {
  return kind === "filter" || kind === "scorer" || kind === "picker";
}

/** The plugin a name refers to; undefined, and said, when there is none. */
function definitionOf(name: string, path: Path, { listed, registry, complain }: Surroundings): Definition | undefined {
  const instance = listed.instances.get(name);
  if (instance !== undefined) return instance.definition;
  if (listed.hasNamelessBroken || listed.brokenNames.has(name)) return undefined;
  const definition = registry.get(name);
  const names = [...listed.instances.keys()];
  if (definition === undefined) {
    const hint = didYouMean(name, [...names, ...registry.keys()]);
    complain(path, {
      found: `${quoted(name)}, which no plugin is called`,
      wanted: "the name of an entry in spec.plugins, or a built-in type",
      hint,
    });
    return undefined;
  }
  const [namesake] = listedOfType(name, listed);
  if (namesake !== undefined) {
    complain(path, {
      found: `the type ${quoted(name)}, which is listed under another name`,
      wanted: quoted(namesake.entry.name),
    });
    return undefined;
  }
  if (needsNoParameters(definition)) return definition;
  complain(path, {
    found: `${quoted(name)} without the parameters it needs`,
    wanted: "an entry in spec.plugins that gives them",
  });
  return undefined;
}

function refuseRepeats(refs: readonly FoundRef[], complain: Complain): void {
  const seen = new Set<string>();
  for (const { name, path } of refs) {
    if (seen.has(name))
      complain([...path, "pluginRef"], { found: `${quoted(name)} a second time`, wanted: "each plugin once in a profile" });
    seen.add(name);
  }
}

function refuseSecondPicker(refs: readonly FoundRef[], complain: Complain): void {
  const [first, second] = refs.filter(({ kind }) => kind === "picker");
  if (first === undefined || second === undefined) return;
  complain(second.path, { found: `a second picker, ${quoted(second.name)}, beside ${quoted(first.name)}`, wanted: "one picker" });
}

/** Filters in front and a picker at the end where none is listed, and a scorer if asked for. */
function complete(refs: readonly FoundRef[], listed: ListedPlugins, needsScorer: boolean): readonly ProfileRef[] {
  const has = (kind: PluginKind) => refs.some((ref) => ref.kind === kind);
  const filters = has("filter") ? [] : DEFAULT_FILTERS;
  const scorers = has("scorer") || !needsScorer ? [] : [DEFAULT_SCORER];
  const pickers = has("picker") ? [] : [DEFAULT_PICKER];
  return [
    ...filters.map((type) => ({ pluginRef: nameOfType(type, listed) })),
    ...refs.map(({ name, kind, weight }) => (kind === "scorer" ? { pluginRef: name, weight: weight ?? 1 } : { pluginRef: name })),
    ...scorers.map((type) => ({ pluginRef: nameOfType(type, listed), weight: 1 })),
    ...pickers.map((type) => ({ pluginRef: nameOfType(type, listed) })),
  ];
}

/** What the config calls a plugin of this type; the type itself where it lists none. */
function nameOfType(type: string, listed: ListedPlugins): string {
  return listedOfType(type, listed)[0]?.entry.name ?? type;
}
