import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { leastFirst } from "../../../plugins/scorers/least-first.ts";
import { makeEndpoint, makeEndpoints } from "../../support/endpoints.ts";

const { NaN: UNKNOWN, POSITIVE_INFINITY } = Number;

describe("leastFirst", () => {
  const cases: readonly [numbers: readonly number[], scores: readonly (number | null)[] | null][] = [
    [[], null],
    [[7], [1]],
    [
      [3, 3, 3],
      [1, 1, 1],
    ],
    [
      [0, 5, 10],
      [1, 0.5, 0],
    ],
    [
      [10, 4, 2],
      [0, 0.75, 1],
    ],
    [
      [0, UNKNOWN, 4],
      [1, null, 0],
    ],
    [
      [UNKNOWN, 4],
      [null, 1],
    ],
    [
      [5, UNKNOWN, 5],
      [1, null, 1],
    ],
    [[UNKNOWN, UNKNOWN], null],
    [
      [1, POSITIVE_INFINITY, 3],
      [1, null, 0],
    ],
  ];
  for (const [numbers, scores] of cases) {
    it(`${JSON.stringify(numbers)}`, () =>
      assert.deepEqual(
        leastFirst(makeEndpoints(numbers.length), (slot) => numbers[slot]!),
        scores,
      ));
  }

  it("reads each candidate's own slot", () => {
    assert.deepEqual(
      leastFirst([makeEndpoint(3), makeEndpoint(1)], (slot) => [9, 0, 9, 8][slot]!),
      [0, 1],
    );
  });
});
