import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Bounds, Histogram } from "../../../core/contract/histogram.ts";

/** Each bound, the numbers next to it, and what no search could get wrong. */
function valuesAround(ends: readonly number[]): readonly number[] {
  const next = ends.flatMap((end) => [end * (1 - Number.EPSILON), end, end * (1 + Number.EPSILON), end * 1.3]);
  return [0, -0, Number.MIN_VALUE, 1e-300, ...next, 1e300, Number.MAX_VALUE, Number.POSITIVE_INFINITY];
}

describe("the bucket of a value is the first whose upper end is not below it", () => {
  const cases: Readonly<Record<string, Bounds>> = {
    "with one bound": new Bounds([3]),
    "far from each other": new Bounds([0.001, 1, 1e9]),
    "near each other": new Bounds([1, 1.0001, 1.0002, 1.5, 2, 3]),
    "as times have them": new Bounds([0.00001, 0.00002, 0.00005, 0.0001, 0.1, 0.2, 0.5, 1, 2, 5, 600]),
    "that grow by 5 %": Bounds.growing(0.01, 1e7, 1.05),
    "that grow by half a percent": Bounds.growing(0.001, 1e8, 1.005),
  };
  for (const [name, bounds] of Object.entries(cases)) {
    it(name, () => {
      for (const value of valuesAround(bounds.ends)) {
        const found = bounds.ends.findIndex((end) => value <= end);
        assert.equal(bounds.bucketOf(value), found < 0 ? bounds.ends.length : found, String(value));
      }
    });
  }
});

it("bounds that grow reach from the least to the most", () => {
  const { ends } = Bounds.growing(1, 1000, 2);
  assert.deepEqual(ends, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
});

describe("a histogram", () => {
  const bounds = Bounds.growing(1, 1000, 1.1);
  const counted = (...values: readonly number[]) => {
    const histogram = new Histogram(bounds);
    for (const value of values) histogram.add(value);
    return histogram;
  };

  it("adds up, and leaves out what is no number from 0", () => {
    const { count, sum, sumOfSquares } = counted(3, 4, Number.NaN, -1, Number.NEGATIVE_INFINITY);
    assert.deepEqual([count, sum, sumOfSquares], [2, 7, 25]);
  });

  it("counts a value several times, as if it came several times", () => {
    const several = counted();
    several.add(5, 3);
    assert.deepEqual(several, counted(5, 5, 5));
  });

  it("takes what another one has counted", () => {
    const both = counted(1, 20);
    both.addAll(counted(300));
    assert.deepEqual(both, counted(1, 20, 300));
  });

  it("has the value of each rank within half a bucket, and none beyond", () => {
    const { counts } = counted(...Array.from({ length: 999 }, (_, index) => index + 1));
    for (const rank of [1, 10, 500, 950, 999]) {
      const value = bounds.valueAtRank(counts, rank);
      assert.ok(Math.abs(value / rank - 1) < 0.05, `${value} for ${rank}`);
    }
    assert.deepEqual([bounds.valueAtRank(counts, -1), bounds.valueAtRank(counts, 1000)], [Number.NaN, Number.NaN]);
  });

  it("takes values beyond the bounds for those at their ends", () => {
    const { counts } = counted(0, 1e9);
    assert.equal(bounds.valueAtRank(counts, 1), 1);
    assert.equal(bounds.valueAtRank(counts, 2), bounds.ends.at(-1));
  });
});
