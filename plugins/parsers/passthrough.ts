import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import type { ParsedBody } from "../../core/contract/request.ts";
import { routeMethod, routePath } from "./route-options.ts";

const options = z.strictObject({
  /** Paths that are sent to any ready replica, without reading or changing the body. */
  routes: z.array(z.strictObject({ method: routeMethod, path: routePath })).min(1),
});

/** The body is not read, so model and prompt are unknown, and a second delivery may do harm. */
const UNREAD: ParsedBody = {
  model: "",
  modelSpan: [-1, -1],
  isStream: false,
  promptSpans: [],
  promptTokens: 0,
  maxOutputTokens: 0,
  cacheSalt: "",
  isRepeatable: false,
};

export default defineParser({
  type: "passthrough",
  summary: "Forwards the listed paths without reading the body.",
  options,
  create: ({ routes }) => ({ routes, dialect: "openai", keys: [], parse: () => UNREAD }),
});
