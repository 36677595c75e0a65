import assert from "node:assert/strict";
import { test } from "node:test";
import random from "../../../plugins/pickers/random.ts";
import { makeEndpoints, seededRandom } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

test("each comes first equally often, for any totals", () => {
  const draw = seededRandom(5);
  const firsts = [0, 0, 0, 0];
  for (let round = 0; round < 8000; round++) {
    firsts[createPlugin(random).pick(makeEndpoints(4), [1, 0, 0, 0.5], draw)[0]!.slot]! += 1;
  }
  for (const times of firsts) assert.ok(Math.abs(times - 2000) < 150, firsts.join());
});
