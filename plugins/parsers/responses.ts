import type { ResponseShape } from "../../core/contract/response-shape.ts";
import { CONTINUED_KEYS, continuedIn } from "./named-object.ts";
import { defineJsonParser } from "./shared-fields.ts";

/**
 * `response.created` and `response.in_progress` come before anything is computed, so they show nothing. The last event repeats what the
 * client sent (schemas, metadata), so it may be long. Some servers send [DONE] behind it, or `response.done` in its place.
 */
const RESPONSE: ResponseShape = {
  document: ['"output":['],
  events: [
    '"type":"response.output',
    '"type":"response.completed"',
    '"type":"response.incomplete"',
    '"type":"response.cancelled"',
  ],
  endings: [
    "[DONE]",
    '"type":"response.completed"',
    '"type":"response.incomplete"',
    '"type":"response.failed"',
    '"type":"response.cancelled"',
    '"type":"response.done"',
  ],
  hasTypes: true,
};

/** The replica stores a response unless the request has `store: false`, so a second delivery would store a second one. */
export default defineJsonParser({
  type: "responses",
  summary: "Reads requests for responses (/v1/responses).",
  paths: ["/v1/responses"],
  dialect: "responses",
  promptKeys: ["instructions", "tools", "input"],
  partKeys: ["input"],
  limitKeys: ["max_output_tokens"],
  response: RESPONSE,
  moreKeys: ["store", ...CONTINUED_KEYS],
  // response.created and response.in_progress come before the prompt is processed.
  openingEvents: 2,
  more: (_parsed, body) => {
    const isStored = body.kind("store") !== "false";
    return { isRepeatable: !isStored, ...continuedIn(body), makes: isStored ? "responses" : undefined };
  },
});
