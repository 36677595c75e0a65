import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Scorer } from "../../../core/contract/scorer.ts";
import { score } from "../../../core/decide/score.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";

type Values = readonly (number | null)[] | null;

/** A scorer with the given values and confidences. */
function scorer(name: string, weight: number, values: Values, confidences?: readonly number[]) {
  const plugin: Scorer = { score: () => values, ...(confidences && { confidence: ({ slot }) => confidences[slot]! }) };
  return { name, type: name, weight, plugin };
}

const run = (scorers: ReturnType<typeof scorer>[], count = 2) =>
  score(makeRequest(), scorers, makeEndpoints(count), makeLoad(count));

describe("the total is the weighted mean of the opinions", () => {
  const cases: readonly [name: string, scorers: ReturnType<typeof scorer>[], totals: readonly number[]][] = [
    ["one scorer", [scorer("a", 3, [1, 0.5])], [1, 0.5]],
    ["two, by their weights", [scorer("a", 3, [1, 0]), scorer("b", 1, [0, 1])], [0.75, 0.25]],
    ["no opinion on one", [scorer("a", 3, [1, null]), scorer("b", 1, [0, 0.4])], [0.75, 0.4]],
    ["no opinion on any", [scorer("a", 3, null), scorer("b", 1, [0, 0.4])], [0, 0.4]],
    ["no scorer has one", [scorer("a", 3, [null, null])], [0, 0]],
    ["a weight of 0", [scorer("a", 0, [1, 1]), scorer("b", 1, [0, 0.4])], [0, 0.4]],
  ];
  for (const [name, scorers, totals] of cases) it(name, () => assert.deepEqual([...run(scorers).totals], totals));
});

describe("a score counts by its confidence", () => {
  const other = () => scorer("b", 1, [0, 0]);
  const cases: readonly [confidences: readonly number[], totals: readonly number[]][] = [
    [
      [1, 1],
      [0.5, 0.5],
    ],
    [
      [1, 1 / 3],
      [0.5, 0.25],
    ],
    [
      [0, 1],
      [0, 0.5],
    ],
  ];
  for (const [confidences, totals] of cases) {
    it(confidences.join(", "), () => {
      const { columns, totals: got } = run([scorer("a", 1, [1, 1], confidences), other()]);
      assert.deepEqual(
        [...got].map((total) => Number(total.toFixed(12))),
        totals,
      );
      const isAnySoft = confidences.some((confidence) => confidence < 1);
      assert.deepEqual(columns[0]?.confidences && Array.from(columns[0].confidences), isAnySoft ? confidences : undefined);
    });
  }
});

test("a scorer that breaks its contract counts as having no opinion, and the fault is recorded", () => {
  const broken: readonly [Values, readonly number[] | undefined, RegExp][] = [
    [[1], undefined, /1 scores for 2 candidates/],
    [[1, 1.5], undefined, /1.5 is not in \[0, 1\]/],
    [[1, Number.NaN], undefined, /NaN is not in/],
    [[1, 1], [1, 2], /Confidence 2 is not in \[0, 1\]/],
    [[1, 1], [Number.NaN, 1], /Confidence NaN/],
  ];
  for (const [values, confidences, message] of broken) {
    const { columns, totals, faults } = run([scorer("bad", 5, values, confidences), scorer("good", 1, [0.25, 0.5])]);
    assert.deepEqual([...totals], [0.25, 0.5]);
    assert.deepEqual(
      columns.map((column) => column.scorer),
      ["good"],
    );
    assert.equal(faults[0]?.plugin, "bad");
    assert.match(faults[0]?.message ?? "", message);
  }
});
