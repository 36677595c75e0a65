import assert from "node:assert/strict";
import { it } from "node:test";
import { systemClock } from "../../../core/contract/clock.ts";
import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import { watchLoop } from "../../../plugins/observers/loop-delay.ts";

it("counts by how much a timer was late, until it is ended", () => {
  let nowMs = 1000;
  let tick = () => {};
  let isEnded = false;
  const clock = {
    ...systemClock,
    now: () => nowMs,
    every(_ms: number, run: () => void) {
      tick = run;
      return () => {
        isEnded = true;
      };
    },
  };
  const delays = new Histogram(new Bounds([0.01, 0.1, 1]));
  const end = watchLoop(clock, delays);
  for (const lateMs of [0, 50, 2_000, -3]) {
    nowMs += 100 + lateMs;
    tick();
  }
  assert.deepEqual([...delays.counts], [2, 1, 0, 1]);
  end();
  assert.ok(isEnded);
});
