import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Pattern } from "../../../core/stream/pattern.ts";

const rows: readonly (readonly [text: string, wanted: string, end: number, at: number])[] = [
  ["abcabc", "abc", 6, 3],
  ["abcabc", "abc", 5, 0],
  ["abcabc", "abc", 99, 3],
  ["abcabc", "abd", 6, -1],
  ["abcabc", "abc", -1, -1],
  ["ab", "abc", 2, -1],
  ["", "ab", 0, -1],
];

describe("the last place of a text", () => {
  for (const [text, wanted, end, at] of rows) {
    it(`${wanted} in "${text}" before ${end}`, () => assert.equal(new Pattern(wanted).lastIn(Buffer.from(text), end), at));
  }

  it("is that of a string's own search", () => {
    const letters = (minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength, maxLength });
    fc.assert(
      fc.property(letters(0, 40), letters(1, 5), fc.nat(45), (text, wanted, end) => {
        assert.equal(new Pattern(wanted).lastIn(Buffer.from(text), end), text.slice(0, end).lastIndexOf(wanted));
      }),
    );
  });
});
