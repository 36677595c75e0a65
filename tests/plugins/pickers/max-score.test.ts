import assert from "node:assert/strict";
import { test } from "node:test";
import maxScore from "../../../plugins/pickers/max-score.ts";
import { makeEndpoints, seededRandom } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const picker = createPlugin(maxScore);

test("the highest total first, then the others in order of their totals", () => {
  const order = picker.pick(makeEndpoints(4), [0.2, 0.9, 0.4, 0.6], seededRandom(1));
  assert.deepEqual(
    order.map(({ slot }) => slot),
    [1, 3, 2, 0],
  );
});

test("equal totals come first equally often", () => {
  const random = seededRandom(1);
  const firsts = [0, 0, 0];
  for (let round = 0; round < 3000; round++) firsts[picker.pick(makeEndpoints(3), [1, 0, 1], random)[0]!.slot]! += 1;
  assert.equal(firsts[1], 0);
  assert.ok(firsts[0]! > 1400 && firsts[2]! > 1400, firsts.join());
});
