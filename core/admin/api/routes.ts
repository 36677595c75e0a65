import type { AdminSite } from "../site.ts";
import { type AdminApi, adminApi } from "./api.ts";
import { endpointRoutes } from "./endpoints.ts";
import { openApiRoute } from "./openapi.ts";
import type { ApiRoute } from "./route.ts";

/** The admin API of a router: each group of routes is a file beside this one. */
export function routerApi(site: AdminSite): AdminApi {
  const groups: readonly ApiRoute[] = [...endpointRoutes(site)];
  const routes = [...groups, openApiRoute(groups)];
  return adminApi({ routes, access: site.access, generation: () => 1, log: site.log });
}
