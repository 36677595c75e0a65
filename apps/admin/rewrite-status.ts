import type { TargetMapping } from "../../core/contract/rewriter.ts";
import { readyEndpoints } from "../../core/report/ready-endpoints.ts";
import { targetLabel } from "../../core/report/target-label.ts";
import type { Router } from "../../core/router.ts";
import { routersOfPools } from "./pool-sites.ts";

export type RewriteStatus = Readonly<ReturnType<typeof rewriteStatus>>;

/** A rule of a rewrite. The features add their own parts to it, and to its targets. */
export function rewriteStatus(mapping: TargetMapping, router: Router) {
  const { features } = router;
  const routers = [[router.config.pool, router] as const, ...routersOfPools(router)];
  const endpoints = new Map(routers.map(([name, { pool }]) => [name, pool.facts.endpoints]));
  const sum = mapping.targets.reduce((total, { weight }) => total + weight, 0);
  const targets = mapping.targets.map(({ name, weight, pool }) => ({
    name: targetLabel({ name, pool }),
    weight,
    // Of the rule's requests, in [0, 1].
    share: sum === 0 ? 0 : weight / sum,
    // Those that serve it.
    readyEndpoints: readyEndpoints({ name, pool }, endpoints),
    ...features.status(mapping.name, targetLabel({ name, pool })),
  }));
  return { ...mapping, targets, ...features.status(mapping.name) };
}
