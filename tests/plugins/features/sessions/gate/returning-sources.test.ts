import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReturningSources } from "../../../../../plugins/features/sessions/gate/returning-sources.ts";

/** After so many turns, of which every `known`-th is one of a known session: whether a new session is likely to come back. */
function isLikely(turns: number, known: number): boolean {
  const sources = new ReturningSources();
  for (let turn = 1; turn <= turns; turn++) sources.seen("prompt", turn % known === 0);
  return sources.seen("prompt", false);
}

const cases: readonly [name: string, turns: number, known: number, isLikely: boolean][] = [
  ["at first", 0, 1, true],
  ["while all go on", 500, 1, true],
  ["after some new ones at once", 30, 1_000, true],
  ["where nobody ever goes on", 100, 1_000, false],
  ["where one in three goes on", 500, 3, false],
];

describe("sessions that come back", () => {
  for (const [name, turns, known, expected] of cases)
    it(`are ${expected ? "expected" : "not expected"} ${name}`, () => assert.equal(isLikely(turns, known), expected));

  it("are known, whatever the others do", () => {
    const sources = new ReturningSources();
    for (let turn = 0; turn < 200; turn++) sources.seen("prompt", false);
    assert.deepEqual(
      [sources.seen("prompt", true), sources.seen("prompt", false), sources.seen("x-id", false)],
      [true, false, true],
    );
  });
});
