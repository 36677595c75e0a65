import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { displacedBy } from "../../../core/server/displaced.ts";
import type { OpenConnection } from "../../../core/server/server-shared.ts";

/** Places, the oldest first: a letter for the address, in upper case with a response under way. */
function displaced(newcomer: string, places: string): number | undefined {
  const all = [...places].map(
    (letter): OpenConnection => ({
      peer: letter.toLowerCase(),
      state: letter === letter.toLowerCase() ? "idle" : "response",
      beginDrain() {},
      cut() {},
    }),
  );
  const found = displacedBy(newcomer, all);
  return found && all.indexOf(found);
}

describe("the place that a newcomer gets", () => {
  const rows: readonly (readonly [what: string, newcomer: string, places: string, index: number | undefined])[] = [
    ["the oldest that owes bytes", "x", "abc", 0],
    ["one of the address that has most", "x", "abbc", 1],
    ["never one with a response under way while others owe bytes", "x", "BBBa", 3],
    ["its own where it has most", "b", "abBc", 1],
    ["none of who has fewer, whose request is on its way", "b", "aBBB", undefined],
    ["one of the only address that has any", "x", "BBBB", 0],
    ["one of two addresses that share them all", "x", "BBBCCC", 0],
    ["one of the greater of two", "x", "BBCCCC", 2],
    ["none where each has one, or it would have as many", "b", "ABCD", undefined],
    ["none of its own responses", "b", "BBBB", undefined],
    ["none where there is none", "x", "", undefined],
  ];
  for (const [what, newcomer, places, index] of rows) it(what, () => assert.equal(displaced(newcomer, places), index));
});
