import type { Clock } from "../../core/contract/clock.ts";
import { type Endpoint, isServing } from "../../core/contract/endpoint.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import { readyEndpoints } from "../../core/report/ready-endpoints.ts";
import { targetLabel } from "../../core/report/target-label.ts";
import { onDemand } from "../../core/request/on-demand.ts";
import type { Router } from "../../core/router.ts";
import { routersOfPools } from "./pool-sites.ts";

export type RewriteStatus = Readonly<ReturnType<typeof rewriteStatus>>;

/** How many ready endpoints that do not list a target may load it when they are asked: those that have not refused it. */
function askedOn(name: string, routers: readonly (readonly [string, Router])[], clock: Clock): number {
  return routers.reduce((sum, [, { pool, config }]) => {
    const { facts, load } = pool;
    if (onDemand(name, config, facts, load.at(clock.now())) === "never") return sum;
    const isAsked = (each: Endpoint) => isServing(each) && !each.models.has(name) && !load.unlisted.hasRefused(each.slot, name);
    return sum + facts.endpoints.filter(isAsked).length;
  }, 0);
}

/** A rule of a rewrite. The features add their own parts to it, and to its targets. */
export function rewriteStatus(mapping: TargetMapping, router: Router) {
  const { features, services } = router;
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
    // Those that do not list it, but may load it when they are asked.
    onDemandEndpoints: askedOn(name, pool === undefined ? routers : routers.filter(([each]) => each === pool), services.clock),
    ...features.status(mapping.name, targetLabel({ name, pool })),
  }));
  return { ...mapping, targets, ...features.status(mapping.name) };
}
