import assert from "node:assert/strict";
import { describe, it } from "node:test";
import kvCacheUtilization from "../../../plugins/scorers/kv-cache-utilization.ts";
import loadAware from "../../../plugins/scorers/load-aware.ts";
import queue from "../../../plugins/scorers/queue.ts";
import running from "../../../plugins/scorers/running.ts";
import { makeEndpoint, makeLoad } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

describe("a scorer that reads scraped values has their freshness as its confidence", () => {
  const load = makeLoad(3, { freshness: [1, 0.25, 0] });
  const scorers = [queue, running, kvCacheUtilization].map((definition) => [definition.type, createPlugin(definition)] as const);
  for (const [type, { confidence }] of [...scorers, [loadAware.type, createPlugin(loadAware)] as const]) {
    it(type, () => {
      assert.deepEqual(
        [0, 1, 2].map((slot) => confidence?.(makeEndpoint(slot), load)),
        [1, 0.25, 0],
      );
    });
  }
});
