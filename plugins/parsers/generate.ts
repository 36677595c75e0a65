import { CHOICES, defineJsonParser } from "./shared-fields.ts";

/** The limit on generated tokens is inside `sampling_params`, which is not a top-level key, so it is not read and stays 0. */
export default defineJsonParser({
  type: "generate",
  summary: "Reads token-id requests (/inference/v1/generate).",
  paths: ["/inference/v1/generate"],
  dialect: "openai",
  promptKeys: ["token_ids"],
  limitKeys: [],
  response: CHOICES,
});
