import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import concurrency from "../../../plugins/filters/concurrency.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

describe("concurrency", () => {
  const requests = { maxConcurrency: 50, headroom: 0.2 };
  const tokens = { concurrencyMode: "tokens", maxTokenConcurrency: 100, headroom: 0.2 };
  const cases: readonly [name: string, parameters: object, numbers: readonly number[], kept: readonly number[]][] = [
    ["under the limit, headroom included", requests, [59], [0]],
    ["at the limit: another stays", requests, [60, 0], [1]],
    ["all at the limit: none stays", requests, [60, 61], []],
    ["all at the limit with keep: all stay", { ...requests, whenAllFull: "keep" }, [60, 61], [0, 1]],
    ["100 requests by default", {}, [99, 100], [0]],
    ["tokens under the limit", tokens, [110], [0]],
    ["tokens at the limit", tokens, [120], []],
    ["an empty pool", {}, [], []],
  ];
  for (const [name, parameters, numbers, kept] of cases) {
    it(name, () => {
      const isTokens = "concurrencyMode" in parameters;
      const load = makeLoad(numbers.length, isTokens ? { prefillTokens: numbers } : { inFlight: numbers });
      const stayed = createPlugin(concurrency, parameters).filter(
        makeRequest(),
        makeEndpoints(numbers.length),
        load,
        Math.random,
      );
      assert.deepEqual(
        stayed.map(({ slot }) => slot),
        kept,
      );
    });
  }
});

test("when all are full the error is 429, and the client may try again", () => {
  const error = createPlugin(concurrency).refuse?.(makeRequest(), makeEndpoints(1));
  assert.deepEqual([error?.code, error?.status, error?.retryAfterS], ["saturated", 429, 1]);
});

test("limits that make no sense are refused", () => {
  const wrong = [
    { maxConcurrency: 0 },
    { maxTokenConcurrency: 0 },
    { headroom: -0.5 },
    { concurrencyMode: "magic" },
    { maxConcurrency: "x" },
  ];
  for (const parameters of wrong) assert.equal(issuesOf(concurrency, parameters).length, 1);
});
