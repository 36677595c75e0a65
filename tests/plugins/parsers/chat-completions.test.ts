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
