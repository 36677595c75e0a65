import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  addBuckets,
  bucketLines,
  makeBuckets,
  observe,
  REQUEST_SECONDS,
  SHORT_SECONDS,
} from "../../../plugins/observers/buckets.ts";
import { TOKEN_COUNTS, TOKEN_SECONDS } from "../../../plugins/observers/traffic-table.ts";

describe("bounds", () => {
  it("of requests reach from 1 ms to 10 minutes", () => {
    assert.equal(REQUEST_SECONDS[0], 0.001);
    assert.equal(REQUEST_SECONDS.at(-1), 600);
  });
  for (const [name, bounds] of Object.entries({ REQUEST_SECONDS, TOKEN_SECONDS, TOKEN_COUNTS })) {
    it(`${name} grow by a factor of 10 at most, and of 5 on average`, () => {
      const factors = bounds.slice(1).map((bound, index) => bound / bounds[index]!);
      assert.ok(factors.every((factor) => factor > 1 && factor <= 10));
      assert.ok((bounds.at(-1)! / bounds[0]!) ** (1 / factors.length) < 5);
    });
  }
  it("of the router's own steps begin where a decision's time does", () => assert.equal(SHORT_SECONDS[0], 0.00001));
});

describe("buckets", () => {
  it("count up to their upper end, and add up", () => {
    const buckets = makeBuckets([0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 2]) observe(buckets, [0.1, 1], value);
    addBuckets(buckets, buckets);
    const lines = ['a_bucket{x="y",le="0.1"} 4', 'a_bucket{x="y",le="1"} 6', 'a_bucket{x="y",le="+Inf"} 8'];
    assert.deepEqual(bucketLines("a", 'x="y"', [0.1, 1], buckets).split("\n"), [
      ...lines,
      'a_sum{x="y"} 5.3',
      'a_count{x="y"} 8',
      "",
    ]);
  });
  it("leave out what is no time, and are not shown while they are empty", () => {
    const buckets = makeBuckets([1]);
    for (const value of [Number.NaN, -1]) observe(buckets, [1], value);
    assert.equal(bucketLines("a", "", [1], buckets), "");
  });
});
