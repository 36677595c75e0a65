import assert from "node:assert/strict";
import { test } from "node:test";
import queue from "../../../plugins/scorers/queue.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

test("the shortest queue scores 1, the longest 0", () => {
  const load = makeLoad(3, { waiting: [2, 0, 8], running: [0, 9, 9] });
  assert.deepEqual(createPlugin(queue).score(makeRequest(), makeEndpoints(3), load), [0.75, 1, 0]);
});

test("no opinion before metrics were read", () => {
  assert.equal(createPlugin(queue).score(makeRequest(), makeEndpoints(3), makeLoad(3)), null);
});
