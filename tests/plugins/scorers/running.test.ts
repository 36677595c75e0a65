import assert from "node:assert/strict";
import { test } from "node:test";
import running from "../../../plugins/scorers/running.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

test("the fewest running score 1, the most 0", () => {
  const load = makeLoad(3, { running: [2, 0, 8], waiting: [0, 9, 9] });
  assert.deepEqual(createPlugin(running).score(makeRequest(), makeEndpoints(3), load), [0.75, 1, 0]);
});

test("no opinion before metrics were read", () => {
  assert.equal(createPlugin(running).score(makeRequest(), makeEndpoints(3), makeLoad(3)), null);
});
