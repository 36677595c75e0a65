import type { PoolsConfig } from "../../../config/pools/schema.ts";
import { isServing } from "../../../core/contract/endpoint.ts";
import { counted } from "../../../core/report/number-text.ts";
import type { Router } from "../../../core/router.ts";
import type { PoolTally } from "./pool-tally.ts";

/** The pools beside the router's own, as the status shows them. */
export function poolsStatus({ pools }: PoolsConfig, routers: ReadonlyMap<string, Router>, tally: PoolTally) {
  return pools.map(({ name, models, headers, keys, fallback }) => {
    const router = routers.get(name);
    const endpoints = router?.pool.facts.endpoints ?? [];
    return {
      name,
      models,
      headers: Object.fromEntries(headers),
      keys,
      fallback: fallback.map(({ pool }) => pool),
      endpoints: endpoints.length,
      ready: endpoints.filter(isServing).length,
      profile: router?.config.profile.name ?? "",
      ...tally.of(name),
      leftForOthers: tally.leftFrom(name),
      // What the pool's own features say of it.
      ...router?.features.status(),
    };
  });
}

type PoolStatus = ReturnType<typeof poolsStatus>[number];

export function poolsLines({ pools = [] }: { readonly pools?: readonly PoolStatus[] }): readonly string[] {
  return pools.map(({ name, ready, endpoints, requests, failed, leftForOthers }) => {
    const left = leftForOthers === 0 ? "" : `, ${leftForOthers} left for other pools`;
    return `pool ${name}: ${ready} of ${endpoints} replicas ready; ${counted(requests, "request")}, ${failed} failed${left}`;
  });
}
