import type { Resource } from "../read/fit.ts";
import { didYouMean, quoted } from "../read/problems.ts";
import type { ObjectiveDocument } from "./schema.ts";

/** Priorities by name. Reports what is wrong; `pool` is undefined if the Router document has no valid pool name. */
export function readObjectives(
  resources: readonly Resource<ObjectiveDocument>[],
  pool: string | undefined,
): ReadonlyMap<string, number> {
  const priorities = new Map<string, number>();
  for (const { document, report, wasCut } of resources) {
    const { metadata, spec } = document;
    const { name } = spec.poolRef;
    if (pool !== undefined && name !== pool && !wasCut(["spec", "poolRef"])) {
      const hint = didYouMean(name, [pool]) || "The pool's name is spec.pool.name of the Router document.";
      report(["spec", "poolRef", "name"], {
        found: `${quoted(name)}, which is not this router's pool`,
        wanted: quoted(pool),
        hint,
      });
    }
    if (wasCut(["metadata"])) continue;
    if (priorities.has(metadata.name)) {
      const found = `the InferenceObjective ${quoted(metadata.name)} a second time`;
      report(["metadata", "name"], { found, wanted: "each name once, because requests name it alone" });
    }
    priorities.set(metadata.name, spec.priority ?? 0);
  }
  return priorities;
}
