import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { firstTokensOf } from "./figures.ts";

describe("times to the first token", () => {
  it("mean, median and 99th percentile, in any order", () => {
    const seconds = Array.from({ length: 100 }, (_, index) => 100 - index);
    assert.deepEqual(firstTokensOf(seconds), { mean: 50.5, p50: 50, p99: 99 });
    assert.deepEqual(firstTokensOf([3]), { mean: 3, p50: 3, p99: 3 });
  });

  it("of no request are unknown", () => {
    assert.deepEqual(firstTokensOf([]), { mean: Number.NaN, p50: Number.NaN, p99: Number.NaN });
  });
});
