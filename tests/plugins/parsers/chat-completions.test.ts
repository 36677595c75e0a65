import assert from "node:assert/strict";
import { test } from "node:test";
import chatCompletions from "../../../plugins/parsers/chat-completions.ts";
import { parseWith } from "./parse-with.ts";

test("tools come before messages, in any order in the body", () => {
  const parsed = parseWith(
    chatCompletions,
    '{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function"}],"model":"m"}',
  );
  assert.deepEqual(parsed.prompts, ['[{"type":"function"}]', '[{"role":"user","content":"hi"}]']);
  assert.equal(parsed.promptTokens, Math.ceil(21 / 4) + Math.ceil(32 / 4));
});

test("the newer limit counts before the older", () => {
  const limitOf = (limits: string) => parseWith(chatCompletions, `{"model":"m",${limits}}`).maxOutputTokens;
  assert.equal(limitOf('"max_tokens":5'), 5);
  assert.equal(limitOf('"max_tokens":5,"max_completion_tokens":7'), 7);
  assert.equal(limitOf('"max_tokens":5,"max_completion_tokens":null'), 5);
});

test("choices are counted as strictly as limits, because each takes up to the limit", () => {
  const choicesOf = (n: string) => parseWith(chatCompletions, `{"model":"m","n":${n}}`).choices;
  assert.deepEqual(["128", "1e2", "2.0", "null", "0", "-1"].map(choicesOf), [128, 100, 2, 1, 1, 1]);
  assert.equal(parseWith(chatCompletions, '{"model":"m"}').choices, 1);
  for (const wrong of ['"128"', "1.5", "true", `2.${"0".repeat(5000)}`])
    assert.throws(() => choicesOf(wrong), { code: "invalid_value" }, wrong.slice(0, 20));
});
