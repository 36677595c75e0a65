import { defineJsonParser } from "./shared-fields.ts";

/** The input has the same four shapes as the prompt of a completion. */
export default defineJsonParser({
  type: "embeddings",
  summary: "Reads embedding requests (/v1/embeddings).",
  paths: ["/v1/embeddings"],
  dialect: "openai",
  promptKeys: ["input"],
  limitKeys: [],
});
