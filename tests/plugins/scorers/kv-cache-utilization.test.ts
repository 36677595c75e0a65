import assert from "node:assert/strict";
import { test } from "node:test";
import kvCacheUtilization from "../../../plugins/scorers/kv-cache-utilization.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

test("the free share, and no opinion if it is unknown", () => {
  const load = makeLoad(5, { kvUsage: [0, 0.25, 1, Number.NaN, 1.01] });
  assert.deepEqual(createPlugin(kvCacheUtilization).score(makeRequest(), makeEndpoints(5), load), [1, 0.75, 0, null, 0]);
});

test("the reference's cases", () => {
  const load = makeLoad(5, { kvUsage: [0.8, 0.5, 0, 0.6, 1] });
  const scores = createPlugin(kvCacheUtilization).score(makeRequest(), makeEndpoints(5), load) ?? [];
  assert.deepEqual(
    Array.from(scores, (score) => Number(score?.toFixed(9))),
    [0.2, 0.5, 1, 0.4, 0],
  );
});
