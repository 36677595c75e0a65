import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { KeySearch } from "../../../core/stream/key-search.ts";

it("finds the first key whose value is not null, wherever it stands in how many bytes", () => {
  const piece = fc.constantFrom('"ab"', '"cdcab"', '"', "a", "b", ":null", ":n", ":", "dcab", "\\", "x".repeat(3000));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(20), fc.nat(20), (pieces, before, behind) => {
      const text = pieces.join("");
      const [start, end] = [Math.min(before, text.length), Math.max(before, text.length - behind)];
      const bytes = Buffer.from(text);
      const search = new KeySearch(["ab", "cdcab"]);
      const within = text.slice(start, end);
      const at = within.search(/"(?:ab|cdcab)"(?!:n)/);
      assert.equal(search.firstIn(bytes, start, end), at < 0 || start > end ? -1 : start + at);
      const least = search.leastStart(bytes, start, end);
      const first = within.search(/"(?:ab|cdcab)"/);
      assert.ok(least >= start && (first < 0 || least <= start + first), `${least}`);
    }),
    { numRuns: 2000 },
  );
});
