import type { ProfileConfig } from "../config.ts";
import { type Problem, problemAt, quoted } from "../read/problems.ts";
import { isProfileKind } from "./instances.ts";
import type { Instance } from "./listed.ts";
import { isOfOther } from "./own-instances.ts";

/** A warning for each listed filter, scorer and picker that no profile uses. */
export function unusedPlugins(profiles: readonly ProfileConfig[], instances: readonly Instance[]): readonly Problem[] {
  const used = new Set(profiles.flatMap(({ plugins }) => plugins.map(({ pluginRef }) => pluginRef)));
  return instances.flatMap(({ entry: { name, position }, definition: { kind }, path }) => {
    if (position === undefined || isOfOther(name) || used.has(name) || !isProfileKind(kind)) return [];
    const found = `the ${kind} ${quoted(name)}, which the profile does not name`;
    return [problemAt(position, path, { found, wanted: `{ pluginRef: ${name} } in the profile, or no entry` })];
  });
}
