import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { routeMethod, routePath } from "./route-options.ts";
import { UNREAD_BODY } from "./unread-body.ts";

const options = z.strictObject({
  /** Paths that are sent to any ready replica, without reading or changing the body. */
  routes: z.array(z.strictObject({ method: routeMethod, path: routePath })).min(1),
});

export default defineParser({
  type: "passthrough",
  summary: "Forwards the listed paths without reading the body.",
  options,
  create: ({ routes }) => ({ routes, dialect: "openai", keys: [], parse: () => UNREAD_BODY }),
});
