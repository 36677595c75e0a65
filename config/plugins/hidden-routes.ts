import { type Problem, problemAt, quoted } from "../read/problems.ts";
import type { Instance } from "./listed.ts";
import { parsersMade } from "./parser-made.ts";

/** Parsers by their types that read the prompt of a request, and the model. */
const OF_PROMPTS: ReadonlySet<string> = new Set([
  ...["completions", "chat-completions", "responses", "messages", "generate", "embeddings"],
]);
/** What a listed parser of these types reads less than the one whose path it takes. */
const READS_LESS: Readonly<
  Record<string, { readonly takes: (type: string) => boolean; readonly found: string; readonly wanted: string }>
> = {
  passthrough: {
    takes: () => true,
    found: "requests there go to any ready replica, whatever model they name",
    wanted: "no such route, which is served without it; or the parser model-paths, which reads the model",
  },
  "model-paths": {
    takes: (type) => OF_PROMPTS.has(type),
    found: "their prompts are not read there, so nothing is known of what is cached",
    wanted: "no such route, which is served without it",
  },
};

/** A warning for each route of a listed parser that takes a path from another one, and reads less of its requests. */
export function hiddenRoutes(instances: readonly Instance[]): readonly Problem[] {
  const isLess = ({ entry, definition }: Instance) =>
    entry.position !== undefined && entry.from === undefined && READS_LESS[definition.type] !== undefined;
  // Nothing is made where no parser is listed that may do it.
  const parsers = instances.some(isLess) ? (parsersMade(instances) ?? []) : [];
  const served = new Map<string, Instance>();
  const warnings: Problem[] = [];
  for (const { instance, routes } of parsers) {
    for (const { method, path } of routes) {
      const key = `${method} ${path.replace(/\{\w+\}/g, "{}")}`;
      const before = served.get(key);
      served.set(key, instance);
      if (before === undefined || !isLess(instance)) continue;
      const warning = warningOf(instance, before, `${method} ${path}`);
      if (warning !== undefined) warnings.push(warning);
    }
  }
  return warnings;
}

function warningOf({ entry, definition, path }: Instance, before: Instance, route: string): Problem | undefined {
  const { takes, found, wanted } = READS_LESS[definition.type]!;
  if (!takes(before.definition.type)) return undefined;
  return problemAt(entry.position!, path, {
    found: `the route ${quoted(route)} of ${quoted(entry.name)}, which takes it from the parser ${quoted(before.entry.name)}: ${found}`,
    wanted,
  });
}
