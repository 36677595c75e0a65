import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { IdleHabit } from "../../../core/wire/idle-habit.ts";

type Ended = readonly [idleMs: number, atMs: number];

describe("a replica's habit with idle connections", () => {
  const rows: readonly (readonly [name: string, said: string, ended: readonly Ended[], limitMs: number])[] = [
    ["nothing is known", "", [], Number.POSITIVE_INFINITY],
    ["what it says", "timeout=5, max=100", [], 5_000],
    ["what it says, in other letters", "max=3, Timeout = 20", [], 20_000],
    ["no time", "max=100", [], Number.POSITIVE_INFINITY],
    ["a time of another name", "mytimeout=5", [], Number.POSITIVE_INFINITY],
    ["zero", "timeout=0", [], 1_000],
    ["what it did once", "", [[5_000, 10_000]], Number.POSITIVE_INFINITY],
    [
      "what it did twice",
      "",
      [
        [5_010, 10_000],
        [5_000, 20_000],
      ],
      5_000,
    ],
    [
      "a crash that ended many at one moment",
      "",
      [
        [5_000, 10_000],
        [5_000, 10_001],
        [5_010, 10_001],
      ],
      Number.POSITIVE_INFINITY,
    ],
    [
      "crashes, at moments of their own",
      "",
      [
        [0, 10_000],
        [0, 20_000],
        [3_000, 30_000],
        [7_000, 40_000],
      ],
      Number.POSITIVE_INFINITY,
    ],
    [
      "a habit, and a crash between",
      "",
      [
        [5_000, 10_000],
        [5_000, 20_000],
        [2_000, 30_000],
        [60_000, 99_000],
      ],
      5_000,
    ],
  ];
  for (const [name, said, ended, limitMs] of rows) {
    it(name, () => {
      const habit = new IdleHabit();
      habit.said(said);
      for (const each of ended) habit.ended(...each);
      const isKnown = Number.isFinite(limitMs);
      assert.equal(habit.hasClosed(isKnown ? 0.85 * limitMs : 1e9), false);
      if (isKnown) assert.equal(habit.hasClosed(0.95 * limitMs), true);
      habit.forget();
      assert.equal(habit.hasClosed(1e9), false);
    });
  }
});
