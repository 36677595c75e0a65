import { isServing } from "../../core/contract/endpoint.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import type { Router } from "../../core/router.ts";

export type RewriteStatus = Readonly<ReturnType<typeof rewriteStatus>>;

/** A rule of a rewrite. The features add their own parts to it, and to its targets. */
export function rewriteStatus(mapping: TargetMapping, { pool, features }: Router) {
  const available = pool.facts.endpoints.filter(isServing);
  const sum = mapping.targets.reduce((total, { weight }) => total + weight, 0);
  const targets = mapping.targets.map(({ name, weight }) => ({
    name,
    weight,
    // Of the rule's requests, in [0, 1].
    share: sum === 0 ? 0 : weight / sum,
    // Those that serve it.
    readyEndpoints: available.filter(({ models }) => models.has(name)).length,
    ...features.status(mapping.name, name),
  }));
  return { ...mapping, targets, ...features.status(mapping.name) };
}
