import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cut, cutMiddle, widthOf, wrapped } from "../../../core/report/text-width.ts";

describe("columns of a terminal", () => {
  for (const [text, width] of [
    ["gpu-1", 5],
    ["模型-一", 7],
    ["e\u0301", 1],
    ["🚂 up", 5],
    ["👩‍🚒", 2],
    ["", 0],
  ] as const)
    it(`${JSON.stringify(text)} takes ${width}`, () => assert.equal(widthOf(text), width));
});

describe("a text that is too wide", () => {
  for (const [text, columns, shown] of [
    ["gpu-1", 5, "gpu-1"],
    ["gpu-10", 5, "gpu-…"],
    ["模型模型", 5, "模型…"],
    ["模型模型", 4, "模…"],
    ["🚂🚂🚂", 4, "🚂…"],
    ["gpu-10", Number.POSITIVE_INFINITY, "gpu-10"],
  ] as const)
    it(`${text} in ${columns} columns is ${shown}`, () => assert.equal(cut(text, columns), shown));

  for (const [text, columns, shown] of [
    ["vllm-7f9c-abcde", 15, "vllm-7f9c-abcde"],
    ["vllm-7f9c-abcde", 9, "vllm…bcde"],
    ["vllm-7f9c-abcde", 8, "vllm…cde"],
    ["vllm-7f9c-abcde", 2, "v…"],
    ["模型-第一-号机", 9, "模型…号机"],
    ["family-👩‍🚒👩‍🚒", 6, "fam…👩‍🚒"],
    ["gpu-10", Number.POSITIVE_INFINITY, "gpu-10"],
  ] as const)
    it(`the name ${text} in ${columns} columns is ${shown}`, () => {
      assert.equal(cutMiddle(text, columns), shown);
      assert.ok(widthOf(shown) <= columns);
    });

  for (const [text, columns, indent, lines] of [
    ["12:00  200  model-a  gpu-1", 30, 4, ["12:00  200  model-a  gpu-1"]],
    ["12:00  200  model-a  gpu-1", 21, 4, ["12:00  200  model-a", "    gpu-1"]],
    ["12:00  a-name-without-a-break", 14, 4, ["12:00", "    a-name-wit", "    hout-a-bre", "    ak"]],
    ["模型 模型 模型", 9, 2, ["模型 模型", "  模型"]],
    ["", 5, 2, [""]],
  ] as const)
    it(`${JSON.stringify(text)} is wrapped between words at ${columns}`, () =>
      assert.deepEqual(wrapped(text, columns, indent), lines));
});
