import { z } from "../../core/contract/options.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { jsonParser } from "./shared-fields.ts";

/** The input has the same four shapes as the prompt of a completion. */
export default defineParser({
  type: "embeddings",
  summary: "Reads embedding requests (/v1/embeddings).",
  options: z.strictObject({}),
  create: () => jsonParser({ paths: ["/v1/embeddings"], dialect: "openai", promptKeys: ["input"], limitKeys: [] }),
});
