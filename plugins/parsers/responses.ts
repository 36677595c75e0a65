import { defineJsonParser } from "./shared-fields.ts";

/** The replica stores a response unless the request has `store: false`, so a second delivery would store a second one. */
export default defineJsonParser({
  type: "responses",
  summary: "Reads requests for responses (/v1/responses).",
  paths: ["/v1/responses"],
  dialect: "responses",
  promptKeys: ["instructions", "tools", "input"],
  partKeys: ["input"],
  limitKeys: ["max_output_tokens"],
  moreKeys: ["store", "previous_response_id"],
  // response.created and response.in_progress come before the prompt is processed.
  openingEvents: 2,
  more: (_parsed, body) => ({
    isRepeatable: body.kind("store") === "false",
    isFollowUp: body.kind("previous_response_id") === "string",
  }),
});
