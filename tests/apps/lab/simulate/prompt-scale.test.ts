import assert from "node:assert/strict";
import { test } from "node:test";
import { withPromptScale } from "../../../../apps/lab/simulate/prompt-scale.ts";
import { MAX_PROMPT_TOKENS } from "../../../../apps/lab/simulate/trace.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const TRACE = makeTrace([makeTraced(0, [1, 2, 3], 7, 250), makeTraced(5, [1, 2, 4], 9)]);

test("prompts are longer or shorter, block by block, and share as much as before", () => {
  for (const scale of [4, 2.5, 0.333, 0.01]) {
    const { requests, name } = withPromptScale(TRACE, scale);
    assert.equal(name, `made with prompts ${scale} times as long`);
    for (const [index, { prompt, outputTokens, atMs }] of requests.entries()) {
      const before = TRACE.requests[index]!;
      assert.equal(prompt.tokens, Math.max(1, Math.round(scale * before.prompt.tokens)));
      assert.deepEqual([outputTokens, atMs, [...prompt.blocks]], [before.outputTokens, before.atMs, [...before.prompt.blocks]]);
      const tokens = Array.from(prompt.blocks, (_, block) => prompt.tokensIn(block));
      assert.ok(tokens.every((count) => count >= 0) && tokens.reduce((sum, count) => sum + count) === prompt.tokens);
    }
    const [one, other] = requests.map(({ prompt }) => prompt);
    assert.deepEqual([one!.tokensIn(0), one!.tokensIn(1)], [other!.tokensIn(0), other!.tokensIn(1)]);
  }
});

test("nothing changes at 1, and a prompt that would be too long is an error that names its line", () => {
  assert.equal(withPromptScale(TRACE, 1), TRACE);
  const scale = MAX_PROMPT_TOKENS / 200;
  assert.throws(
    () => withPromptScale(TRACE, scale),
    /^Error: Line 1: a prompt of 250 tokens can't be .* times as long; it may have/,
  );
});
