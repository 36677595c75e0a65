import assert from "node:assert/strict";
import { test } from "node:test";
import { Bounds, Histogram } from "../../../../core/contract/histogram.ts";
import { distributionOf } from "../../../../plugins/features/rollouts/estimates.ts";

const BOUNDS = Bounds.growing(0.01, 1e7, 1.05);

function histogramOf(...values: readonly number[]) {
  const histogram = new Histogram(BOUNDS);
  for (const value of values) histogram.add(value);
  return distributionOf(histogram);
}

/** Within the width of a bucket. */
const isNear = (value: number | null | undefined, wanted: number) => Math.abs((value ?? Number.NaN) / wanted - 1) < 0.04;

test("without a number there is no distribution; what is no number from 0 is none", () => {
  assert.equal(histogramOf(), null);
  assert.equal(histogramOf(Number.NaN, -1), null);
});

test("one number has no intervals yet", () => {
  const one = histogramOf(200);
  assert.deepEqual([one?.count, one?.mean], [1, { value: 200, low: null, high: null }]);
  assert.ok(isNear(one?.p50.value, 200));
  assert.deepEqual([one?.p50.low, one?.p95.high], [null, null]);
});

test("quantiles are the values at their ranks, and lie within their intervals", () => {
  const thousand = histogramOf(...Array.from({ length: 1000 }, (_, index) => index + 1));
  assert.ok(isNear(thousand?.p50.value, 500) && isNear(thousand?.p95.value, 950));
  // Ranks 500 ± 1.96 x sqrt(1000 / 4), and 950 ± 1.96 x sqrt(47.5).
  assert.ok(isNear(thousand?.p50.low, 469) && isNear(thousand?.p50.high, 531));
  assert.ok(isNear(thousand?.p95.low, 936.5) && isNear(thousand?.p95.high, 963.5));
  assert.equal(thousand?.mean.value, 500.5);
  assert.ok(Math.abs((thousand.mean.high ?? 0) - thousand.mean.value - (1.96 * 288.8) / Math.sqrt(1000)) < 0.1);
});
