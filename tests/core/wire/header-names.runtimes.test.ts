import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkIds, HEADER } from "../../../core/wire/header-names.ts";

describe("the numbers of headers", () => {
  it("have a bit each in a mask of 32", () => {
    const bits = Object.values(HEADER).map((id) => 1 << id);
    assert.equal(new Set(bits).size, bits.length);
    assert.ok(!bits.includes(0));
  });

  for (const [what, ids] of [
    ["one that would share another's bit", [1, 2, 33]],
    ["one beyond the mask", [1, 32]],
    ["the number for names that are not listed", [0, 1]],
    ["the same one twice", [1, 2, 1]],
    ["a fraction", [1.5]],
  ] as const) {
    it(`must not have ${what}`, () => assert.throws(() => checkIds(ids), RangeError));
  }
});
