import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sumOf } from "./cost.ts";
import { measureAll } from "./measure.ts";
import { differences, NOT_COUNTED, readSavedCosts } from "./saved-costs.ts";

describe("what a request costs", () => {
  it("is what costs.json says", { skip: NOT_COUNTED || false, timeout: 240_000 }, async () => {
    const counted = Object.fromEntries([...(await measureAll())].map(([name, costs]) => [name, sumOf(costs)]));
    const changes = differences(readSavedCosts(), counted);
    assert.deepEqual(changes, [], "If it is meant: npm run bench:count -- --write");
  });

  const cost = { calls: 1000, functions: 500, files: 100, bytes: 10_000 };
  for (const [is, changed, named] of [
    ["within the slack", { calls: 1030, bytes: 9_700 }, []],
    ["more calls", { calls: 1031 }, ["a request: 1,031 calls, and 1,000 in costs.json"]],
    ["fewer bytes", { bytes: 9_699 }, ["a request: 9,699 bytes, and 10,000 in costs.json"]],
  ] as const)
    it(`${is}: ${named.length} named`, () => {
      assert.deepEqual(differences({ "a request": cost }, { "a request": { ...cost, ...changed } }), named);
    });

  it("is named if the file has it and nobody counts it, and the other way round", () => {
    assert.equal(differences({ "a request": cost }, {}).length, 4);
    assert.equal(differences({}, { "a request": cost }).length, 4);
  });
});
