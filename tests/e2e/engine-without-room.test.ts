import assert from "node:assert/strict";
import { after, it } from "node:test";
import { startMetricsReplica } from "../support/metrics-replica.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";

for (const [what, series] of [
  ["preempts", 'vllm:num_preemptions_total{engine="0"}'],
  ["refuses others' requests", 'vllm:admission_rejections_total{reason="queue_full"}'],
])
  it(`an engine that ${what} is left alone while it does, and gets requests again afterwards`, async () => {
    let setbacks = 7;
    let isStrained = false;
    const strained = await startMetricsReplica(() => {
      if (isStrained) setbacks += 1;
      return `${series} ${setbacks}\n`;
    });
    const other = await startMetricsReplica(() => `${series} 9\n`);
    const router = await startTestRouter([strained.url, other.url], {
      // A pause ends when the metrics have been read again: longer here than a request takes on a busy machine.
      spec: "  plugins: [ { type: metrics, parameters: { periodMs: 300, idlePeriodMs: 300 } } ]\n",
    });
    after(() => router.close());
    const { load, facts } = router.router.pool;
    const pausedNow = () => facts.endpoints.map(({ slot }) => load.at(performance.now()).isPaused(slot));
    const ask = async () => {
      const response = await fetch(`${router.url}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"model":"m","prompt":"x"}',
      });
      assert.equal(response.status, 200);
      await response.text();
    };
    // Counts from before the router's first look say nothing.
    await waitUntil(() => router.router.pool.facts.endpoints.length === 2);
    assert.deepEqual(pausedNow(), [false, false]);
    isStrained = true;
    await waitUntil(() => pausedNow()[0] === true);
    const before = strained.counted.requests;
    for (let i = 0; i < 6; i++) if (pausedNow()[0] === true) await ask();
    assert.deepEqual([strained.counted.requests - before, other.counted.requests > 0], [0, true]);
    isStrained = false;
    await waitUntil(() => pausedNow()[0] === false);
    const last = strained.counted.requests;
    for (let i = 0; i < 6; i++) await ask();
    assert.ok(strained.counted.requests > last);
  });
