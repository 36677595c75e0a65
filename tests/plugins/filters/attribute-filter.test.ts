import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import attributeFilter from "../../../plugins/filters/attribute-filter.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";

interface Case {
  readonly name: string;
  readonly algorithm: object;
  readonly more?: object;
  /** By slot; undefined for an endpoint without the number. */
  readonly values: readonly (number | undefined)[];
  readonly kept: readonly number[];
}

const threshold = (operator: string, value: number) => ({ type: "threshold", threshold: { operator, value } });
const topK = (k: number, higherIsBetter?: boolean) => ({
  type: "topK",
  topK: { k, ...(higherIsBetter !== undefined && { higherIsBetter }) },
});
const percentile = (share: number, higherIsBetter: boolean) => ({
  type: "percentile",
  percentile: { percentile: share, higherIsBetter },
});

const cases: readonly Case[] = [
  { name: "at most", algorithm: threshold("LessThanOrEqual", 0.9), values: [0.5, 0.9, 0.91], kept: [0, 1] },
  { name: "less", algorithm: threshold("LessThan", 0.9), values: [0.5, 0.9, 0.91], kept: [0] },
  { name: "more", algorithm: threshold("GreaterThan", 0.9), values: [0.5, 0.9, 0.91], kept: [2] },
  { name: "at least", algorithm: threshold("GreaterThanOrEqual", 0.9), values: [0.5, 0.9, 0.91], kept: [1, 2] },
  { name: "equal", algorithm: threshold("Equal", 0.9), values: [0.5, 0.9, 0.91], kept: [1] },
  { name: "not equal", algorithm: threshold("NotEqual", 0.9), values: [0.5, 0.9, 0.91], kept: [0, 2] },
  {
    name: "in a range, both ends too",
    algorithm: { type: "range", range: { min: 2, max: 4 } },
    values: [1, 2, 4, 5],
    kept: [1, 2],
  },
  { name: "the highest", algorithm: topK(2), values: [1, 3, 2], kept: [1, 2] },
  { name: "the lowest", algorithm: topK(1, false), values: [1, 3, 2], kept: [0] },
  { name: "as many as asked where values are equal", algorithm: topK(2), values: [1, 1, 1], kept: [0, 1] },
  { name: "more than there are", algorithm: topK(9), values: [1, undefined, 2], kept: [0, 1, 2] },
  { name: "the lower quarter", algorithm: percentile(25, false), values: [4, 1, 3, 2], kept: [1] },
  { name: "the upper half", algorithm: percentile(50, true), values: [4, 1, 3, 2], kept: [0, 2, 3] },
  { name: "percentile 0", algorithm: percentile(0, false), values: [4, 1, 3], kept: [1] },
  { name: "percentile 100", algorithm: percentile(100, true), values: [4, 1, 3], kept: [0] },
  { name: "a missing number passes", algorithm: threshold("LessThan", 1), values: [5, undefined, 0], kept: [1, 2] },
  {
    name: "or fails",
    algorithm: threshold("LessThan", 1),
    more: { onMissing: "Fail" },
    values: [5, undefined, 0],
    kept: [2],
  },
  { name: "none stays", algorithm: threshold("LessThan", 1), values: [5, 6], kept: [] },
  { name: "or all do", algorithm: threshold("LessThan", 1), more: { fallbackOnEmpty: true }, values: [5, 6], kept: [0, 1] },
  { name: "no candidate", algorithm: percentile(50, true), values: [], kept: [] },
];

describe("the rules", () => {
  for (const { name, algorithm, more, values, kept } of cases) {
    it(name, () => {
      const attributes = values.map((value) => new Map(value === undefined ? [] : [["x", value]]));
      const filter = createPlugin(attributeFilter, { attribute: "x", algorithm, ...more });
      const stayed = filter.filter(
        makeRequest(),
        makeEndpoints(values.length),
        makeLoad(values.length, { attributes }),
        Math.random,
      );
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

test("a name of every object is no attribute", () => {
  const filter = createPlugin(attributeFilter, {
    attribute: "constructor",
    onMissing: "Fail",
    algorithm: threshold("NotEqual", 1),
  });
  assert.deepEqual(filter.filter(makeRequest(), makeEndpoints(2), makeLoad(2), Math.random), []);
});

test("the error names filter and attribute", () => {
  const filter = createPlugin(attributeFilter, { attribute: "x", algorithm: topK(1) }, makeHost({ name: "cool" }));
  assert.match(filter.refuse?.(makeRequest(), []).message ?? "", /value of x that the filter "cool" allows/);
});

describe("parameters that are refused", () => {
  const refused: readonly [parameters: object, path: string][] = [
    [{ algorithm: topK(1) }, "attribute"],
    [{ attribute: "x", algorithm: threshold("Less", 1) }, "algorithm.threshold.operator"],
    [{ attribute: "x", algorithm: threshold("LessThan", Number.NaN) }, "algorithm.threshold.value"],
    [{ attribute: "x", algorithm: { type: "range", range: { min: 4, max: 2 } } }, "algorithm.range.max"],
    [{ attribute: "x", algorithm: { type: "topK", threshold: {} } }, "algorithm.topK"],
    [{ attribute: "x", algorithm: topK(0) }, "algorithm.topK.k"],
    [{ attribute: "x", algorithm: percentile(101, true) }, "algorithm.percentile.percentile"],
    [{ attribute: "x", algorithm: { type: "best" } }, "algorithm.type"],
    [{ attribute: "x", onMissing: "pass", algorithm: topK(1) }, "onMissing"],
  ];
  for (const [parameters, path] of refused) {
    it(JSON.stringify(parameters), () => assert.equal(issuesOf(attributeFilter, parameters)[0]?.path?.join("."), path));
  }
});
