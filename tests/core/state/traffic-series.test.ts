import assert from "node:assert/strict";
import { test } from "node:test";
import { TrafficSeries } from "../../../core/state/traffic-series.ts";

test("rates of whole steps, the oldest first", () => {
  const series = new TrafficSeries(12_000);
  assert.deepEqual(series.shown(12_000), { stepS: 5, requestsPerS: [], errorsPerS: [], clientErrorsPerS: [] });
  for (let i = 0; i < 10; i++) series.ended(i < 2, i === 9, 13_000);
  series.ended(false, false, 21_000);
  series.ended(true, false, 26_000);
  assert.deepEqual(series.shown(26_000), {
    stepS: 5,
    requestsPerS: [2, 0, 0.2],
    errorsPerS: [0.4, 0, 0],
    clientErrorsPerS: [0.2, 0, 0],
  });
});

test("ten minutes are kept, also after a long silence", () => {
  const series = new TrafficSeries(0);
  for (let nowMs = 0; nowMs < 2_000_000; nowMs += 5_000) series.ended(false, false, nowMs);
  const { requestsPerS } = series.shown(2_000_000);
  assert.equal(requestsPerS.length, 119);
  assert.deepEqual([...new Set(requestsPerS)], [0.2]);
  assert.deepEqual([...new Set(series.shown(9_000_000).requestsPerS)], [0]);
});
