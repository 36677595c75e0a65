import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { situations } from "../../core/test-kit/situations.ts";
import { makeLoad, makeRequest, seededRandom } from "../support/endpoints.ts";
import { builtInsOf, checkBuiltIns } from "./pools.ts";

checkBuiltIns("picker");

for (const [type, create] of builtInsOf("picker")) {
  describe(`the picker ${type}`, () => {
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
