import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "../../../core/contract/clock.ts";
import { Deadlines, sweepPeriodMs } from "../../../core/wire/deadlines.ts";

/** A clock whose one repeated timer comes exactly when the test says so, in time or late. */
function handClock() {
  let nowMs = 1_000;
  let tick = () => {};
  const clock: Clock = {
    now: () => nowMs,
    wall: () => 0,
    after: () => () => {},
    every(_ms, run) {
      tick = run;
      return () => {
        tick = () => {};
      };
    },
  };
  return {
    clock,
    sweepAfter(ms: number) {
      nowMs += ms;
      tick();
    },
  };
}

describe("deadlines", () => {
  it("tell every member the time on every sweep, until it is deleted or all is closed", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    const told: number[] = [];
    const member = { sweep: (now: number) => void told.push(now) };
    assert.equal(deadlines.nowMs, 1_000);
    deadlines.add(member);
    sweepAfter(100);
    sweepAfter(130);
    deadlines.delete(member);
    sweepAfter(100);
    deadlines.add(member);
    deadlines.close();
    sweepAfter(100);
    assert.deepEqual(told, [1_100, 1_230]);
    assert.equal(deadlines.nowMs, 1_330);
  });

  it("do not count the time in which the process stood still", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    sweepAfter(60_000);
    assert.equal(deadlines.nowMs, 1_200);
    sweepAfter(100);
    assert.equal(deadlines.nowMs, 1_300);
  });

  it("let a member leave during a sweep", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    let swept = 0;
    const leaver = {
      sweep() {
        swept += 1;
        deadlines.delete(leaver);
      },
    };
    deadlines.add(leaver);
    deadlines.add({
      sweep() {
        swept += 10;
      },
    });
    sweepAfter(100);
    sweepAfter(100);
    assert.equal(swept, 21);
  });

  it("are swept at a quarter of the shortest limit, within reason", () => {
    assert.equal(sweepPeriodMs([600_000, 400]), 100);
    assert.equal(sweepPeriodMs([600_000]), 250);
    assert.equal(sweepPeriodMs([1]), 10);
  });
});
