import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeEndpoint, makeLoad, makeRequest } from "signalbox/test-kit";
import labelPreference from "./custom-scorer.ts";

const candidates = [
  makeEndpoint(0, { labels: { gpu: "h100" } }),
  makeEndpoint(1, { labels: { gpu: "a100" } }),
  makeEndpoint(2, { labels: { gpu: "l4" } }),
  makeEndpoint(3),
];

test("scores by the label, and 0 for an unknown value or no label", () => {
  const scorer = createPlugin(labelPreference, { scores: { h100: 1, a100: 0.5 } });
  assert.deepEqual(scorer.score(makeRequest(), candidates, makeLoad(4)), [1, 0.5, 0, 0]);
});

test("reads another label", () => {
  const scorer = createPlugin(labelPreference, { label: "zone", scores: { near: 1 } });
  assert.deepEqual(scorer.score(makeRequest(), candidates, makeLoad(4)), [0, 0, 0, 0]);
});

test("refuses scores outside 0 to 1", () => {
  assert.throws(() => createPlugin(labelPreference, { scores: { h100: 7 } }));
});
