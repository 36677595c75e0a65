import type { EndpointStatus } from "./endpoint-schema.ts";
import { endpointStatus } from "./endpoint-status.ts";
import { allPools, furtherPools } from "./pool-sites.ts";
import type { ViewedSite } from "./site.ts";

/** The endpoints of all pools; each says its pool where there are several. */
export function shownEndpoints(site: ViewedSite): readonly EndpointStatus[] {
  if (furtherPools(site).length === 0) return site.router.pool.facts.endpoints.map((endpoint) => endpointStatus(endpoint, site));
  return allPools(site).flatMap(({ name: pool, site: inner }) =>
    inner.router.pool.facts.endpoints.map((endpoint) => ({ ...endpointStatus(endpoint, inner), pool })),
  );
}
