import assert from "node:assert/strict";
import { test } from "node:test";
import completions from "../../../plugins/parsers/completions.ts";
import { createPlugin } from "../../support/plugins.ts";
import { parseWith } from "./parse-with.ts";

test("a completion request", () => {
  const parsed = parseWith(completions, '{"model":"food-review","prompt":"Hello","max_tokens":100,"temperature":0}');
  assert.equal(parsed.model, "food-review");
  assert.deepEqual(parsed.prompts, ['"Hello"']);
  assert.equal(parsed.maxOutputTokens, 100);
  assert.equal(parsed.isRepeatable, true);
});

test("its route and dialect", () => {
  const { routes, dialect } = createPlugin(completions);
  assert.deepEqual(routes, [{ method: "POST", path: "/v1/completions" }]);
  assert.equal(dialect, "openai");
});
