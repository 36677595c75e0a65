import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { jsonParser } from "./shared-fields.ts";

/** The limit on generated tokens lies inside `sampling_params`, where the body is not read: it stays 0. */
export default defineParser({
  type: "generate",
  summary: "Reads token-id requests (/inference/v1/generate).",
  options: z.strictObject({}),
  create: () => jsonParser({ paths: ["/inference/v1/generate"], dialect: "openai", promptKeys: ["token_ids"], limitKeys: [] }),
});
