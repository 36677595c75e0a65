import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import type { ParsedBody } from "../../core/contract/request.ts";

const options = z.strictObject({
  /** Paths that go to any ready replica, unread and unchanged. */
  routes: z.array(z.strictObject({ method: z.string().regex(/^[A-Z]+$/), path: z.string().startsWith("/") })).min(1),
});

/** Nothing is read, so nothing is known: no model, no prompt, nor what a second delivery would do. */
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
