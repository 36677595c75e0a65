import type { Objective } from "../../core/router-config.ts";
import type { Resource } from "../read/fit.ts";
import { checkPool, refuseDuplicates } from "../rewrites/pool-resources.ts";
import type { ObjectiveDocument } from "./schema.ts";

/** The objectives in file order. Reports what is wrong with them. `pool` is undefined if the Router document has no valid pool name. */
export function readObjectives(
  resources: readonly Resource<ObjectiveDocument>[],
  pool: string | undefined,
): readonly Objective[] {
  refuseDuplicates(resources);
  if (pool !== undefined) for (const resource of resources) checkPool(resource, pool);
  return resources.map(({ document: { metadata, spec } }) => {
    return { name: metadata.name, namespace: metadata.namespace ?? "default", priority: spec.priority ?? 0 };
  });
}
