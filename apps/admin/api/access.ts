import { z } from "../../../core/contract/options.ts";
import { permissionOf } from "../permission.ts";
import type { ApiSite } from "../site.ts";
import { type ApiRoute, route } from "./route.ts";

const permission = z.object({
  mayChange: z.boolean().describe("Whether changes are taken at all."),
  needsToken: z.boolean().describe("Whether they must bring Authorization: Bearer TOKEN."),
  needsTokenToRead: z.boolean().describe("Whether what is shown needs it too."),
  reason: z.string().describe("Why changes are not taken; empty where they are."),
});

/** Says what may be changed here, so that a page need not offer what is refused. */
export function accessRoutes(site: ApiSite): readonly ApiRoute[] {
  return [
    route({
      method: "GET",
      path: "/access",
      id: "getAccess",
      isOpen: true,
      summary: "Whether changes are allowed here, and whether they need a token.",
      response: permission,
      run: () => ({ document: permissionOf(site.access()) }),
    }),
  ];
}
