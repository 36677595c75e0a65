import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { tokenize, tokensOf } from "../../../../apps/lab/mock/tokens.ts";

describe("the tokens of a mock replica", () => {
  test("a text has the same ids as its pieces, whatever is in it", () => {
    const character = fc.constantFrom("a", "b", "~", "\x7f", " ", "\n", "\u00a0", "ü", "→", "🚦", "\ud83d");
    const text = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant("x") }, character)).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (whole) => {
        const pieces = tokensOf(whole);
        assert.equal(pieces.map((piece) => piece.text).join(""), whole);
        assert.deepEqual(
          tokenize(whole),
          pieces.map(({ id }) => id),
        );
      }),
    );
  });

  test("four printable characters are one token", () => {
    assert.equal(tokenize("AAAABBBBAAAA").length, 3);
    assert.equal(new Set(tokenize("AAAABBBBAAAA")).size, 2);
  });
});
