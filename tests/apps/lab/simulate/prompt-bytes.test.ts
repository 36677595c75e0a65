import assert from "node:assert/strict";
import { test } from "node:test";
import { imageSpan, PromptWriter, textTokens } from "../../../../apps/lab/simulate/prompt-bytes.ts";
import { makeTraced } from "./traces.ts";

const writer = new PromptWriter([makeTraced(0, [1], 1, 1_000)]);
const textOf = (blocks: readonly number[], tokens?: number) =>
  new TextDecoder("utf-8", { fatal: true }).decode(writer.write(makeTraced(0, blocks, 1, tokens)));

test("four printable bytes per token", () => {
  assert.match(textOf([1, 2, 3], 250), /^[\w-]{1000}$/);
});

test("two prompts share bytes exactly as far as they share blocks", () => {
  const rows: readonly [one: number[], other: number[], equalTokens: number][] = [
    [[1, 2, 3], [1, 2, 3], 300],
    [[1, 2, 3], [1, 2, 4], 200],
    [[1, 2, 3], [1, 2], 200],
    [[5, 2, 3], [6, 2, 3], 0],
    [[1, 2 ** 24 - 1], [1, 2 ** 24 - 2], 100],
    [[1, 64], [1, 4096], 100],
  ];
  for (const [one, other, equalTokens] of rows) {
    const [a, b] = [textOf(one), textOf(other)];
    let equal = 0;
    while (equal < a.length && a[equal] === b[equal]) equal++;
    assert.equal(Math.floor(equal / 4), equalTokens, `${one} and ${other}`);
  }
});

test("an image at the end has bytes of its own number", () => {
  const request = { ...makeTraced(0, [1, 2, 3]), image: { bytes: 6_000, isRecognised: true } };
  const bytes = new PromptWriter([request]).write(request);
  assert.equal(bytes.length, 800 + 6_000);
  assert.deepEqual([textTokens(request), imageSpan(request)], [200, [800, 6_800]]);
  assert.equal(new Set(bytes.subarray(800)).size, new Set(bytes.subarray(800, 804)).size);
});
