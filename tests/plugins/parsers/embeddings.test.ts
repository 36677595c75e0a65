import assert from "node:assert/strict";
import { test } from "node:test";
import embeddings from "../../../plugins/parsers/embeddings.ts";
import { parseWith } from "./parse-with.ts";

test("text and token ids", () => {
  const text = parseWith(embeddings, '{"input":["one","two"],"model":"e"}');
  assert.deepEqual(text.prompts, ['["one","two"]']);
  assert.equal(text.promptTokens, 4);
  const ids = parseWith(embeddings, '{"input":[[1,2],[3]],"model":"e"}');
  assert.equal(ids.promptTokens, 3);
});
