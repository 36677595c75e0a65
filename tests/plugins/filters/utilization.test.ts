import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import utilization from "../../../plugins/filters/utilization.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const { NaN: UNKNOWN } = Number;

describe("utilization with a headroom of 0.2: less than 6 waiting, less than 0.96 used", () => {
  const cases: readonly [name: string, waiting: readonly number[], kvUsage: readonly number[], kept: readonly number[]][] = [
    ["under the thresholds", [1, 4], [0.1, 0.7], [0, 1]],
    ["at the threshold, within the headroom", [5], [0.8], [0]],
    ["in the headroom", [5], [0.9], [0]],
    ["a queue beyond it", [7, 1], [0.1, 0.1], [1]],
    ["a queue at the limit", [6, 1], [0.1, 0.1], [1]],
    ["a KV cache beyond it", [1, 1], [0.97, 0.5], [1]],
    ["all unknown", [UNKNOWN, UNKNOWN], [UNKNOWN, UNKNOWN], [0, 1]],
    ["all full: all stay", [10, 1], [0.1, 0.99], [0, 1]],
    ["an unknown number drops no endpoint", [UNKNOWN, 10], [UNKNOWN, 0.1], [0]],
    ["one of the two numbers is enough", [UNKNOWN, 0], [0.99, UNKNOWN], [1]],
  ];
  for (const [name, waiting, kvUsage, kept] of cases) {
    it(name, () => {
      const filter = createPlugin(utilization, { headroom: 0.2 });
      const stayed = filter.filter(
        makeRequest(),
        makeEndpoints(waiting.length),
        makeLoad(waiting.length, { waiting, kvUsage }),
        Math.random,
      );
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

test("thresholds that make no sense are refused", () => {
  const wrong = [{ queueDepthThreshold: 0 }, { kvCacheUtilThreshold: 1.5 }, { kvCacheUtilThreshold: 0 }, { headroom: -0.5 }];
  for (const parameters of wrong) assert.equal(issuesOf(utilization, parameters).length, 1);
  assert.equal(issuesOf(utilization, { headroom: 2 }).length, 0);
});
