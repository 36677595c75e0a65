import { type Endpoint, isServing } from "../../core/contract/endpoint.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import { targetLabel } from "../../core/report/target-label.ts";
import type { Router } from "../../core/router.ts";
import { routersOfPools } from "./pool-sites.ts";

export type RewriteStatus = Readonly<ReturnType<typeof rewriteStatus>>;

/** A rule of a rewrite. The features add their own parts to it, and to its targets. */
export function rewriteStatus(mapping: TargetMapping, router: Router) {
  const { features } = router;
  const availableIn = servingEndpoints(router);
  const sum = mapping.targets.reduce((total, { weight }) => total + weight, 0);
  const targets = mapping.targets.map(({ name, weight, pool }) => ({
    name: targetLabel({ name, pool }),
    weight,
    // Of the rule's requests, in [0, 1].
    share: sum === 0 ? 0 : weight / sum,
    // Those that serve it.
    readyEndpoints: availableIn(pool).filter(({ models }) => models.has(name)).length,
    ...features.status(mapping.name, targetLabel({ name, pool })),
  }));
  return { ...mapping, targets, ...features.status(mapping.name) };
}

/** The endpoints that serve in a pool; those of all pools where none is named. */
function servingEndpoints(router: Router): (pool: string | undefined) => readonly Endpoint[] {
  const pools = new Map([[router.config.pool, router], ...routersOfPools(router)]);
  const serving = (from: Iterable<Router>) => [...from].flatMap(({ pool }) => pool.facts.endpoints.filter(isServing));
  const all = serving(pools.values());
  return (pool) => (pool === undefined ? all : serving([pools.get(pool) ?? []].flat()));
}
