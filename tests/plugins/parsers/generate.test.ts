import assert from "node:assert/strict";
import { test } from "node:test";
import generate from "../../../plugins/parsers/generate.ts";
import { parseWith } from "./parse-with.ts";

test("token ids are counted, the nested limit is not read", () => {
  const parsed = parseWith(generate, '{"model":"m","token_ids":[9707,11,1879],"sampling_params":{"max_tokens":5}}');
  assert.deepEqual(parsed.prompts, ["[9707,11,1879]"]);
  assert.equal(parsed.promptTokens, 3);
  assert.equal(parsed.maxOutputTokens, 0);
});
