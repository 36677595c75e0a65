import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { lastIndexByLoop, lastIndexOf } from "../../../core/runtime/last-index-of.ts";

const rows: readonly (readonly [text: string, wanted: string, from: number, at: number])[] = [
  ["abcabc", "abc", 3, 3],
  ["abcabc", "abc", 2, 0],
  ["abcabc", "abc", 99, 3],
  ["abcabc", "abd", 3, -1],
  ["abcabc", "abc", -1, -1],
  ["ab", "abc", 0, -1],
  ["", "ab", 0, -1],
];

describe("the last place of bytes", () => {
  for (const [text, wanted, from, at] of rows) {
    it(`${wanted} in "${text}" from ${from}`, () => {
      assert.equal(lastIndexOf(Buffer.from(text), Buffer.from(wanted), from), at);
      assert.equal(lastIndexByLoop(Buffer.from(text), Buffer.from(wanted), from), at);
    });
  }

  it("is the same with the loop as with the runtime's own search", () => {
    const letters = (least: number, most: number) =>
      fc.array(fc.constantFrom(97, 98), { minLength: least, maxLength: most }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(letters(0, 40), letters(1, 4), fc.nat(45), (bytes, wanted, from) => {
        assert.equal(lastIndexByLoop(bytes, wanted, from), bytes.lastIndexOf(wanted, from));
      }),
    );
  });
});
