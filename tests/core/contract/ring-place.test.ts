import assert from "node:assert/strict";
import { describe, it } from "node:test";
import murmur from "murmurhash3js";
import { ringPlace } from "../../../core/contract/ring-place.ts";

describe("a key's place on a ring is MurmurHash3 of its UTF-8 bytes", () => {
  // Of other implementations.
  const cases: readonly (readonly [key: string, place: number])[] = [
    ["", 0],
    ["hello", 0x248bfa47],
    ["hello, world", 0x149bbb7f],
    ["The quick brown fox jumps over the lazy dog", 0x2e4ff723],
    ["é", 0x10110787],
    ["ž", 0x618c7bf7],
    ["дом", 0xc6b928e5],
    ["🚂", 0xaa5c9acf],
    ["中", 0xdedf5c52],
    ["a\u0301", 0x7a18eac6],
  ];
  for (const [key, place] of cases) {
    it(JSON.stringify(key), () => {
      assert.equal(ringPlace(key), place);
      assert.equal(ringPlace(Buffer.from(key)), place);
    });
  }
});

describe("texts that the bare hash takes for one another have places of their own", () => {
  const pairs: readonly (readonly [one: string, other: string])[] = [
    ["ā", "\u0001"],
    ["šalice", "aalice"],
    ["Женя", "\u0016\u0035\u003d\u004f"],
    ["一号", "\u0000\u00f7"],
    ["tenant-é", "tenant-\u01e9"],
    ["🚂", "=\u0082"],
  ];
  for (const [one, other] of pairs)
    it(JSON.stringify([one, other]), () => {
      assert.equal(murmur.x86.hash32(one), murmur.x86.hash32(other));
      assert.notEqual(ringPlace(one), ringPlace(other));
    });
});

it("a long key is hashed to its end", () => {
  const long = "x".repeat(100_000);
  assert.notEqual(ringPlace(`${long}a`), ringPlace(`${long}b`));
});
