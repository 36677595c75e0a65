import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { solveNonNegative } from "../../../plugins/scorers/non-negative.ts";

describe("solving for numbers from 0", () => {
  const cases: readonly [name: string, moments: readonly number[], cross: readonly number[], wanted: readonly number[]][] = [
    ["one", [4], [8], [2]],
    ["two that are independent", [2, 0, 0, 5], [4, 15], [2, 3]],
    ["two that are not", [2, 1, 1, 3], [7, 11], [2, 3]],
    ["a negative one is held at 0, and the rest is solved again", [2, 1, 1, 3], [5, -2], [2.5, 0]],
    ["all are negative", [2, 0, 0, 5], [-1, -1], [0, 0]],
    ["no solution leaves what there was", [1, 1, 1, 1], [1, 1], [7, 7]],
    ["nor do numbers that are none", [Number.NaN, 0, 0, 1], [1, 1], [7, 7]],
    ["nor endless ones", [Number.POSITIVE_INFINITY, 0, 0, 1], [1, Number.POSITIVE_INFINITY], [7, 7]],
  ];
  for (const [name, moments, cross, wanted] of cases) {
    it(name, () => {
      const result = new Float64Array(cross.length).fill(7);
      solveNonNegative(Float64Array.from(moments), Float64Array.from(cross), result);
      for (const [index, number] of wanted.entries()) assert.ok(Math.abs(result[index]! - number) < 1e-9, `${result}`);
    });
  }
});
