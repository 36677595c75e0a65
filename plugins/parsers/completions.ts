import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { CHOICES, jsonParser } from "./shared-fields.ts";

/** The prompt is a string, a list of strings, a list of token ids, or a list of such lists. */
export default defineParser({
  type: "completions",
  summary: "Reads completion requests (/v1/completions).",
  options: z.strictObject({}),
  create: () =>
    jsonParser({
      paths: ["/v1/completions"],
      dialect: "openai",
      promptKeys: ["prompt"],
      limitKeys: ["max_tokens"],
      response: CHOICES,
    }),
});
