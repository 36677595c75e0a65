import { didYouMean, quoted } from "../read/problems.ts";
import type { Instance, ReadPlugins } from "./listed.ts";

/**
 * Reports the attributes that listed plugins read and no source gives. A source of the user's own that does not say what it gives may
 * give any, and so may an entry with problems of its own.
 */
export function checkAttributes({ instances, brokenNames, hasNamelessBroken }: ReadPlugins): void {
  const all = [...instances.values()];
  const sources = all.filter(({ definition }) => definition.kind === "source");
  const isOpen = sources.some(({ definition, entry }) => entry.from !== undefined && definition.gives === undefined);
  if (isOpen || brokenNames.size > 0 || hasNamelessBroken) return;
  const given = new Set(sources.flatMap(({ definition }) => definition.gives ?? []));
  for (const instance of all) {
    for (const name of instance.definition.reads?.(instance.entry.parameters) ?? [])
      if (!given.has(name)) refuse(instance, name, given);
  }
}

function refuse({ entry: { parameters }, path, report }: Instance, name: string, given: ReadonlySet<string>): void {
  const [key] = Object.entries(parameters as Readonly<Record<string, unknown>>).find(([, value]) => value === name) ?? [];
  report([...path, "parameters", ...(key === undefined ? [] : [key])], {
    found: `the attribute ${quoted(name)}, which no source here gives`,
    wanted: given.size === 0 ? "a source that gives it in plugins, as dcgm gives GPUUtilization" : [...given].join(" or "),
    hint: didYouMean(name, given),
  });
}
