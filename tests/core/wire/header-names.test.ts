import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkIds, HEADER, headerId, idOfName } from "../../../core/wire/header-names.ts";

describe("the numbers of headers", () => {
  it("are those of their names, in any case", () => {
    for (const [name, id] of Object.entries(HEADER)) {
      assert.equal(idOfName(name), id);
      const line = `A: b\r\n${name.toUpperCase()}: c`;
      assert.equal(headerId(line, 6, 6 + name.length), id);
    }
    assert.equal(idOfName("x-unknown"), 0);
    assert.equal(headerId("X-Unknown", 0, 9), 0);
  });

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
