import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CacheRoom } from "../../../../../plugins/features/sessions/gate/cache-room.ts";

const CACHE = 1_600;

/** What was seen: "+" for a prompt that was found, "-" for one that was lost, after sessions had used so many tokens. */
function roomOf(seen: readonly (readonly [marks: string, usedTokens: number])[]): CacheRoom {
  const room = new CacheRoom();
  for (const [marks, used] of seen) for (const mark of marks) room.seen(mark === "+", used, CACHE, 0);
  return room;
}

const cases: readonly [name: string, seen: readonly (readonly [string, number])[], share: number][] = [
  ["the whole cache at first", [], 1],
  ["the whole cache where everything is found", [["++++++++", 1_500]], 1],
  [
    "as much as nothing is lost of",
    [
      ["++++++++", 700],
      ["--------", 900],
    ],
    9 / 16,
  ],
  [
    "the whole cache for three losses: a client may send another prompt",
    [
      ["+", 100],
      ["---", 1_500],
    ],
    1,
  ],
  [
    "up to where more are found than lost",
    [
      ["++++++", 300],
      ["--++++", 900],
      ["++------", 1_300],
    ],
    13 / 16,
  ],
  [
    "a part of it where nearly nothing is found",
    [
      ["+", 100],
      ["------", 100],
    ],
    1 / 16,
  ],
  ["the whole cache of an engine that never counts", [["--------", 100]], 1],
  [
    "the whole cache for a use that is larger than it",
    [
      ["+", 100],
      ["++++++++", 9_000],
    ],
    1,
  ],
  ["the whole cache for a size that is none", [["+++++-----", Number.NaN]], 1],
];

describe("the part of a cache that sessions have", () => {
  for (const [name, seen, share] of cases) it(`is ${name}`, () => assert.equal(roomOf(seen).share(0), share));

  it("grows back when nothing is lost any more, and when nothing was seen for long", () => {
    const seen = [
      ["++++++++", 700],
      ["--------", 900],
    ] as const;
    const room = roomOf(seen);
    for (let time = 0; time < 12; time++) room.seen(true, 900, CACHE, 0);
    assert.equal(room.share(0), 1);
    assert.equal(roomOf(seen).share(3_600_000), 1);
  });
});
