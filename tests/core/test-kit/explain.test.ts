import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPlugin, explain, makeRequest, testPool } from "../../../core/test-kit.ts";
import byLabel from "../../../plugins/filters/by-label.ts";
import maxScore from "../../../plugins/pickers/max-score.ts";
import queue from "../../../plugins/scorers/queue.ts";

describe("explain", () => {
  const pool = testPool({
    gpu1: { labels: { zone: "a" }, waiting: 4, freshness: 1 },
    gpu2: { labels: { zone: "b" }, waiting: 0, freshness: 1 },
    gpu3: { waiting: 2, freshness: 1 },
  });

  it("says a scorer's scores by name, and the order that follows", () => {
    const { scores, order, dropped } = explain(createPlugin(queue), makeRequest(), pool);
    assert.deepEqual(scores, { gpu1: 0, gpu2: 1, gpu3: 0.5 });
    assert.deepEqual(order, ["gpu2", "gpu3", "gpu1"]);
    assert.deepEqual(dropped, []);
  });

  it("says what a filter drops, and why a request is refused", () => {
    const only = (zone: string) => createPlugin(byLabel, { label: "zone", validValues: [zone] });
    const { dropped, order, refusal } = explain(only("b"), makeRequest(), pool);
    assert.deepEqual([dropped, order, refusal], [["gpu1", "gpu3"], ["gpu2"], undefined]);
    assert.equal(explain(only("c"), makeRequest(), pool).refusal?.status, 503);
  });

  it("lets a picker choose by the scores that are given", () => {
    const { order } = explain(createPlugin(maxScore), makeRequest(), pool, { scores: { gpu1: 0.2, gpu2: 0.1, gpu3: 0.9 } });
    assert.deepEqual(order, ["gpu3", "gpu1", "gpu2"]);
  });

  it("says how a scorer breaks its contract, and goes on without it", () => {
    const { fault, scores, order } = explain({ score: () => [1, 2, 3] }, makeRequest(), pool);
    assert.match(fault, /2 is not in \[0, 1\]/);
    assert.deepEqual([scores, order], [{}, ["gpu1", "gpu2", "gpu3"]]);
  });
});
