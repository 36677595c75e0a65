import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeLoad, makeRequest, seededRandom } from "../support/endpoints.ts";
import { builtInsOf, situations } from "./pools.ts";

/** Candidates in every length, with totals of every kind. */
function cases() {
  const random = seededRandom(99);
  const kinds: Readonly<Record<string, () => number>> = {
    "all 0": () => 0,
    "all 1": () => 1,
    "all different": random,
    "some equal": () => Math.floor(random() * 3) / 2,
    tiny: () => random() * 1e-300,
  };
  return situations().flatMap(({ name, candidates }) =>
    Object.entries(kinds).map(([kind, total]) => ({
      name: `${name}, totals ${kind}`,
      candidates,
      totals: Object.freeze(candidates.map(total)),
    })),
  );
}

for (const [type, create] of builtInsOf("picker")) {
  describe(`the picker ${type}`, () => {
    it("puts each candidate in its order once", () => {
      const picker = create();
      for (const { name, candidates, totals } of cases()) {
        for (const random of [seededRandom(1), () => 0, () => 1 - 2 ** -53]) {
          const order = picker.pick(candidates, totals, random);
          assert.equal(order.length, candidates.length, name);
          assert.deepEqual(new Set(order), new Set(candidates), name);
        }
      }
    });

    it("gives the same order again for the same inputs", () => {
      const picker = create();
      for (const { name, candidates, totals } of cases()) {
        assert.deepEqual(
          picker.pick(candidates, totals, seededRandom(3)),
          picker.pick(candidates, totals, seededRandom(3)),
          name,
        );
      }
    });

    it("has no endpoint twice, after any number of choices", () => {
      const picker = create();
      const random = seededRandom(5);
      const { candidates } = situations().find((situation) => situation.candidates.length === 8)!;
      for (let round = 0; round < 50; round++) {
        const order = picker.pick(candidates, candidates.map(random), random);
        assert.equal(new Set(order).size, order.length);
        picker.chosen?.(makeRequest(), order[0]!, makeLoad(1));
      }
    });

    it("reads totals from a typed array too", () => {
      const { candidates } = situations().find((situation) => situation.candidates.length === 8)!;
      const totals = Float64Array.from(candidates, () => 0.5);
      assert.equal(create().pick(candidates, totals, seededRandom(1)).length, 8);
    });
  });
}
