import type { ApiSite } from "../site.ts";
import { accessRoutes } from "./access.ts";
import { adapterRoutes } from "./adapters.ts";
import { type AdminApi, adminApi } from "./api.ts";
import { configRoutes } from "./config.ts";
import { historyRoutes } from "./config-history.ts";
import { endpointRoutes } from "./endpoints.ts";
import { explainRoutes } from "./explain.ts";
import { openApiRoute } from "./openapi.ts";
import { rewriteRoutes } from "./rewrites.ts";
import type { ApiRoute } from "./route.ts";
import { trafficRoutes } from "./traffic.ts";

/** The admin API of a router: each group of routes is a file beside this one. */
export function routerApi(site: ApiSite): AdminApi {
  const groups: readonly ApiRoute[] = [
    ...accessRoutes(site),
    ...configRoutes(site),
    ...historyRoutes(site),
    ...rewriteRoutes(site),
    ...endpointRoutes(site),
    ...adapterRoutes(site),
    ...explainRoutes(site),
    ...trafficRoutes(site),
  ];
  const routes = [...groups, openApiRoute(groups, () => site.streams.list())];
  return adminApi({
    routes,
    streams: site.streams,
    turn: site.turn,
    access: site.access,
    generation: () => site.running.generation,
    log: site.log,
  });
}
