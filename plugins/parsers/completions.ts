import { CHOICES, defineJsonParser } from "./shared-fields.ts";

/** The prompt is a string, a list of strings, a list of token ids, or a list of such lists. */
export default defineJsonParser({
  type: "completions",
  summary: "Reads completion requests (/v1/completions).",
  paths: ["/v1/completions"],
  dialect: "openai",
  promptKeys: ["prompt"],
  batchKey: "prompt",
  choicesKey: "n",
  limitKeys: ["max_tokens"],
  response: CHOICES,
});
