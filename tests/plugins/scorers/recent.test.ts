import assert from "node:assert/strict";
import { test } from "node:test";
import { Recent } from "../../../plugins/scorers/recent.ts";

test("the distance is the median one from a number", () => {
  const recent = new Recent(3, 4);
  assert.equal(recent.distance(5), 0, "none yet");
  for (const value of [100, 5, -1, 2]) recent.add(value);
  assert.equal(recent.distance(4), 2);
});

test("quantiles are those of the latest values and the zeros", () => {
  const recent = new Recent(3);
  assert.equal(recent.quantile(0.5), 0, "none yet");
  for (const value of [100, 5, -1, 2]) recent.add(value);
  assert.deepEqual([recent.quantile(0), recent.quantile(0.5), recent.quantile(1)], [-1, 2, 5], "100 is forgotten");

  const shy = new Recent(5, 2);
  for (const value of [3, 4]) shy.add(value);
  assert.equal(shy.quantile(0.5), 0, "two values say less than two zeros");
  shy.add(5);
  assert.equal(shy.quantile(0.5), 3);
});
