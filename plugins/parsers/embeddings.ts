import type { ResponseShape } from "../../core/contract/response-shape.ts";
import { defineJsonParser } from "./shared-fields.ts";

/** Numbers, or text in base64; no objects where there was nothing to embed. vLLM can send them as bytes too. */
const EMBEDDINGS: ResponseShape = { document: ['"embedding":', '"data":[]'], unread: ["application/octet-stream"] };

/** The input has the same four shapes as the prompt of a completion. */
export default defineJsonParser({
  type: "embeddings",
  summary: "Reads embedding requests (/v1/embeddings).",
  paths: ["/v1/embeddings"],
  dialect: "openai",
  promptKeys: ["input"],
  batchKey: "input",
  limitKeys: [],
  response: EMBEDDINGS,
});
