import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { jsonParser } from "./shared-fields.ts";

/** The replica stores a response unless the request has `store: false`, so a second delivery would store a second one. */
export default defineParser({
  type: "responses",
  summary: "Reads requests for responses (/v1/responses).",
  options: z.strictObject({}),
  create() {
    const parser = jsonParser({
      paths: ["/v1/responses"],
      dialect: "responses",
      promptKeys: ["instructions", "tools", "input"],
      partKeys: ["input"],
      limitKeys: ["max_output_tokens"],
    });
    return {
      ...parser,
      keys: [...parser.keys, "store", "previous_response_id"],
      // response.created and response.in_progress come before the prompt is processed.
      openingEvents: 2,
      parse: (body, path) => ({
        ...parser.parse(body, path),
        isRepeatable: body.kind("store") === "false",
        isFollowUp: body.kind("previous_response_id") === "string",
      }),
    };
  },
});
