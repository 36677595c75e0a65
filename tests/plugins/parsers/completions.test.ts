import assert from "node:assert/strict";
import { test } from "node:test";
import completions from "../../../plugins/parsers/completions.ts";
import { parseWith } from "./parse-with.ts";

test("a completion request", () => {
  const parsed = parseWith(completions, '{"model":"food-review","prompt":"Hello","max_tokens":100,"temperature":0}');
  assert.equal(parsed.model, "food-review");
  assert.deepEqual(parsed.prompts, ['"Hello"']);
  assert.equal(parsed.maxOutputTokens, 100);
  assert.equal(parsed.isRepeatable, true);
});
