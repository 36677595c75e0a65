import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import queue from "../../../plugins/scorers/queue.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

test("the shortest queue scores 1, the longest 0", () => {
  const load = makeLoad(3, { waiting: [2, 0, 8], running: [0, 9, 9] });
  assert.deepEqual(createPlugin(queue).score(makeRequest(), makeEndpoints(3), load), [0.75, 1, 0]);
});

describe("the reference's cases", () => {
  const { NaN: UNKNOWN } = Number;
  const cases: readonly [waiting: readonly number[], scores: readonly (number | null)[]][] = [
    [
      [10, 5, 0],
      [0, 0.5, 1],
    ],
    [
      [5, 5],
      [1, 1],
    ],
    [
      [0, 0],
      [1, 1],
    ],
    [
      [1, UNKNOWN, 9],
      [1, null, 0],
    ],
    [
      [5, UNKNOWN, 5],
      [1, null, 1],
    ],
  ];
  for (const [waiting, scores] of cases) {
    it(waiting.join(", "), () => {
      const load = makeLoad(waiting.length, { waiting });
      assert.deepEqual(createPlugin(queue).score(makeRequest(), makeEndpoints(waiting.length), load), scores);
    });
  }
});

test("no opinion before metrics were read", () => {
  assert.equal(createPlugin(queue).score(makeRequest(), makeEndpoints(3), makeLoad(3)), null);
});
