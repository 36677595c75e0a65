import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import attributeScorer from "../../../plugins/scorers/attribute-scorer.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const lower = { type: "linear_lower_is_better" };
const higher = { type: "linear_higher_is_better" };
const between = (min: number, max: number) => ({ normalization: { fixedRange: { min, max } } });

const cases: readonly [
  name: string,
  algorithm: object,
  values: readonly (number | undefined)[],
  scores: readonly (number | null)[] | null,
][] = [
  ["lower is better", lower, [0, 5, 10], [1, 0.5, 0]],
  ["higher is better", higher, [0, 5, 10], [0, 0.5, 1]],
  ["with the strategy named", { ...lower, normalization: { adaptiveRange: {} } }, [0, 10], [1, 0]],
  ["all equal", higher, [3, 3], [1, 1]],
  ["negative numbers", lower, [-1, 0, 1], [1, 0.5, 0]],
  ["no opinion where it is missing", lower, [0, undefined, 10], [1, null, 0]],
  ["nor anywhere", lower, [undefined, undefined], null],
  ["a fixed range", { ...lower, ...between(0, 1) }, [0.25, 1, 0], [0.75, 0, 1]],
  ["values outside of it", { ...higher, ...between(0, 1) }, [-5, 7, undefined], [0, 1, null]],
  ["a fixed range without values", { ...lower, ...between(0, 1) }, [undefined], [null]],
];

describe("scores", () => {
  for (const [name, algorithm, values, scores] of cases) {
    it(name, () => {
      const attributes = values.map((value) => new Map(value === undefined ? [] : [["x", value]]));
      const scorer = createPlugin(attributeScorer, { attributeKey: "x", algorithm });
      assert.deepEqual(
        scorer.score(makeRequest(), makeEndpoints(values.length), makeLoad(values.length, { attributes })),
        scores,
      );
    });
  }
});

test("old numbers count less", () => {
  const scorer = createPlugin(attributeScorer, { attributeKey: "x", algorithm: lower });
  const [endpoint] = makeEndpoints(1);
  assert.equal(scorer.confidence?.(endpoint!, makeLoad(1, { freshness: [0.25] })), 0.25);
});

describe("parameters that are refused", () => {
  const refused: readonly [parameters: object, path: string][] = [
    [{ algorithm: lower }, "attributeKey"],
    [{ attributeKey: "x", algorithm: { type: "linear" } }, "algorithm.type"],
    [{ attributeKey: "x", algorithm: { ...lower, ...between(1, 1) } }, "algorithm.normalization.fixedRange.max"],
    [
      { attributeKey: "x", algorithm: { ...lower, normalization: { adaptiveRange: {}, fixedRange: { min: 0, max: 1 } } } },
      "algorithm.normalization.fixedRange",
    ],
  ];
  for (const [parameters, path] of refused) {
    it(JSON.stringify(parameters), () => assert.equal(issuesOf(attributeScorer, parameters)[0]?.path?.join("."), path));
  }
});
