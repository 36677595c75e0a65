import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { meanOf, Recorder } from "../../../../apps/lab/simulate/metrics.ts";

const near = (actual: number, wanted: number) =>
  assert.ok(Math.abs(actual - wanted) <= 0.005 * wanted, `${actual}, not ${wanted}`);

describe("metrics", () => {
  it("of a hundred requests that waited 0.1 s to 10 s", () => {
    const recorder = new Recorder();
    for (let count = 100; count > 0; count--) recorder.firstToken(count * 100, 1000, count <= 25 ? 1000 : 0);
    for (let count = 0; count < 95; count++) recorder.over(count < 80, count % 2);
    const metrics = recorder.metrics(100, 0.5, []);
    assert.deepEqual(metrics.ttftSeconds, { mean: 5.05, p50: 5, p90: 9, p99: 9.9 });
    assert.deepEqual(
      [metrics.hitRatio, metrics.shareUnder2Seconds, metrics.completionRatio, metrics.utilization],
      [0.25, 0.2, 0.8, 0.5],
    );
    // Five were refused before they were sent.
    assert.deepEqual([metrics.failedRequests, metrics.retries], [20, 47]);
  });

  it("count an inter-token time as often as there were tokens", () => {
    const recorder = new Recorder();
    recorder.decoded(980, 10);
    recorder.decoded(19, 50);
    recorder.decoded(1, 300);
    const { interTokenSeconds } = recorder.metrics(0, 0, []);
    near(interTokenSeconds.p50, 0.01);
    near(interTokenSeconds.p99, 0.05);
  });

  it("report no imbalance when all replicas have equally many requests, or none", () => {
    const recorder = new Recorder();
    recorder.decided([0, 0, 0, 9], 3, false);
    recorder.decided([2, 2, 2, 9], 3, false);
    recorder.decided([6, 0, 0, 9], 3, true);
    const metrics = recorder.metrics(0, 0, []);
    near(metrics.imbalance, (1 + 1 + 3) / 3);
    assert.equal(metrics.faultyDecisions, 1);
  });

  it("of no requests are zero", () => {
    const metrics = new Recorder().metrics(0, 0, []);
    assert.deepEqual(metrics.ttftSeconds, { mean: 0, p50: 0, p90: 0, p99: 0 });
    assert.deepEqual(metrics.interTokenSeconds, { p50: 0, p99: 0 });
  });

  it("are averaged number by number", () => {
    const one = new Recorder().metrics(3, 0.2, [0, 4]);
    const other = { ...new Recorder().metrics(0, 0.4, [1, 0]), hitRatio: 0.5, ttftSeconds: { mean: 1, p50: 2, p90: 3, p99: 4 } };
    const mean = meanOf([one, other]);
    near(mean.utilization, 0.3);
    assert.equal(mean.hitRatio, 0.25);
    assert.equal(mean.failedRequests, 1.5);
    assert.deepEqual(mean.ejections, [0.5, 2]);
    assert.deepEqual(mean.ttftSeconds, { mean: 0.5, p50: 1, p90: 1.5, p99: 2 });
  });
});
