import assert from "node:assert/strict";
import { test } from "node:test";
import { PromptWriter } from "../../../core/simulate/prompt-bytes.ts";
import { makePrompt } from "./traces.ts";

const writer = new PromptWriter(1_000);
const textOf = (...args: Parameters<typeof makePrompt>) =>
  new TextDecoder("utf-8", { fatal: true }).decode(writer.write(makePrompt(...args)));

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
