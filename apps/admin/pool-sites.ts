import type { RequestCounter } from "../../core/pool/pool.ts";
import { poolsFeature } from "../../core/pools-feature.ts";
import type { Router } from "../../core/router.ts";
import { RequestFigures } from "./figures/request-figures.ts";
import type { ViewedSite } from "./site.ts";

/** A pool with what is shown of it. */
export interface PoolSite {
  readonly name: string;
  readonly site: ViewedSite;
}

const NONE: ReadonlyMap<string, Router> = new Map();
const counted = new WeakMap<Router, RequestFigures>();

/** The routers of the pools beside the router's own, by their names. */
export function routersOfPools(router: Router): ReadonlyMap<string, Router> {
  return poolsFeature(router.config)?.routersOfPools ?? NONE;
}

/** Counts what the router's requests meet from now on, in all of its pools. */
export function figuresOf(router: Router): RequestFigures {
  const figures = new RequestFigures(router.services.clock);
  router.pool.countBy(counterOf(figures, figures, router));
  countPools(router, figures);
  return figures;
}

/** The same for pools that have been added. Counts from now on what the requests of each pool meet, there and together with those of the router's own. */
export function countPools(router: Router, all: RequestFigures): void {
  for (const inner of routersOfPools(router).values()) figuresIn(inner, all, router);
}

/** `front`: the router in front of the pool's. */
function figuresIn(router: Router, all: RequestFigures, front: Router): RequestFigures {
  const known = counted.get(router);
  if (known !== undefined) return known;
  const own = new RequestFigures(router.services.clock);
  router.pool.countBy(counterOf(own, all, front));
  counted.set(router, own);
  return own;
}

/** Counts for one pool and for all, where it is not the router's own; and for endpoints of pools that a request has left. */
function counterOf(own: RequestFigures, all: RequestFigures, front: Router): RequestCounter {
  return {
    follow: (endpoints) => own.follow(endpoints),
    ended(outcome, nowMs) {
      own.ended(outcome, nowMs);
      if (own !== all) all.ended(outcome, nowMs);
      if (own.hasAll(outcome)) return;
      for (const inner of routersOfPools(front).values())
        if (counted.get(inner) !== own) counted.get(inner)?.endedElsewhere(outcome, nowMs);
    },
  };
}

/** The pools beside the router's own. */
export function furtherPools(site: ViewedSite): readonly PoolSite[] {
  return [...routersOfPools(site.router)].map(([name, router]) => siteOf(name, router, site));
}

/** All pools; the router's own, which is the first, only where it has replicas, or is the only one. */
export function allPools(site: ViewedSite): readonly PoolSite[] {
  return [...routersOfAll(site.router)].map(([name, router]) => siteOf(name, router, site));
}

/** The routers of the same pools, by their names. */
export function routersOfAll(router: Router): ReadonlyMap<string, Router> {
  const further = routersOfPools(router);
  const { config, pool } = router;
  const isEmpty = further.size > 0 && pool.facts.endpoints.length === 0;
  return isEmpty ? further : new Map([[config.pool, router], ...further]);
}

function siteOf(name: string, router: Router, site: ViewedSite): PoolSite {
  return {
    name,
    site: router === site.router ? site : { ...site, router, figures: figuresIn(router, site.figures, site.router) },
  };
}
