import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { CHOICES, jsonParser } from "./shared-fields.ts";

/** The limit on generated tokens is inside `sampling_params`, which is not a top-level key, so it is not read and stays 0. */
export default defineParser({
  type: "generate",
  summary: "Reads token-id requests (/inference/v1/generate).",
  options: z.strictObject({}),
  create: () =>
    jsonParser({
      paths: ["/inference/v1/generate"],
      dialect: "openai",
      promptKeys: ["token_ids"],
      limitKeys: [],
      response: CHOICES,
    }),
});
