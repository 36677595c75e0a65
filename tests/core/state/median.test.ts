import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { median } from "../../../core/state/median.ts";

const rows: readonly (readonly [name: string, values: readonly number[], median: number])[] = [
  ["nothing", [], Number.NaN],
  ["one", [3], 3],
  ["an odd number", [9, 1, 4], 4],
  ["an even number", [9, 1, 4, 6], 5],
  ["numbers that sort differently as text", [100, 9, 20], 20],
];

describe("the median of", () => {
  for (const [name, values, expected] of rows) {
    it(name, () => assert.equal(median(Float64Array.from([...values, 77]), values.length), expected));
  }
  it("more values than before", () => {
    const values = Float64Array.from({ length: 1001 }, (_, index) => index);
    assert.equal(median(values, 1001), 500);
    assert.deepEqual([values[0], values[1000]], [0, 1000], "and leaves them as they are");
  });
});
