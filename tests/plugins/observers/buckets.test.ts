import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import {
  bucketLines,
  histogramText,
  REQUEST_SECONDS,
  SHORT_SECONDS,
  TOKEN_COUNTS,
  TOKEN_SECONDS,
} from "../../../plugins/observers/buckets.ts";

describe("bounds", () => {
  it("of requests reach from 1 ms to 10 minutes", () => {
    assert.equal(REQUEST_SECONDS.ends[0], 0.001);
    assert.equal(REQUEST_SECONDS.ends.at(-1), 600);
  });
  for (const [name, { ends }] of Object.entries({ REQUEST_SECONDS, TOKEN_SECONDS, TOKEN_COUNTS })) {
    it(`${name} grow by a factor of 10 at most, and of 5 on average`, () => {
      const factors = ends.slice(1).map((end, index) => end / ends[index]!);
      assert.ok(factors.every((factor) => factor > 1 && factor <= 10));
      assert.ok((ends.at(-1)! / ends[0]!) ** (1 / factors.length) < 5);
    });
  }
  it("of the router's own steps begin where a decision's time does", () => assert.equal(SHORT_SECONDS.ends[0], 0.00001));
});

describe("a series", () => {
  it("shows for each upper end all values up to it", () => {
    const histogram = new Histogram(new Bounds([0.1, 1]));
    for (const value of [0.05, 0.1, 0.5, 2]) histogram.add(value, 2);
    const lines = ['a_bucket{x="y",le="0.1"} 4', 'a_bucket{x="y",le="1"} 6', 'a_bucket{x="y",le="+Inf"} 8'];
    assert.deepEqual(bucketLines("a", 'x="y"', histogram).split("\n"), [...lines, 'a_sum{x="y"} 5.3', 'a_count{x="y"} 8', ""]);
  });

  it("without labels is not shown while it is empty", () => {
    const histogram = new Histogram(new Bounds([1]));
    const head = "# HELP a Times.\n# TYPE a histogram\n";
    assert.equal(histogramText("a", "Times.", histogram), head);
    histogram.add(0.5);
    assert.equal(
      histogramText("a", "Times.", histogram),
      `${head}a_bucket{le="1"} 1\na_bucket{le="+Inf"} 1\na_sum 0.5\na_count 1\n`,
    );
  });
});
