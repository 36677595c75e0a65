import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Clock } from "../../../core/contract/clock.ts";
import { Deadlines, sweepPeriodMs } from "../../../core/wire/deadlines.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** A clock that a test moves by hand; its one repeated timer fires when the test says so, in time or late. */
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
    /** Time passes without a sweep. */
    pass(ms: number) {
      nowMs += ms;
    },
    sweepAfter(ms: number) {
      nowMs += ms;
      tick();
    },
  };
}

/** A member with one deadline, set now; says when it was met on the clock. */
function timedMember(deadlines: Deadlines, clock: Clock, limitMs: number) {
  const member = {
    setAtMs: clock.now(),
    deadlineMs: deadlines.nowMs + limitMs,
    limitMs,
    metAtMs: Number.NaN,
    sweep(nowMs: number) {
      if (nowMs >= member.deadlineMs && Number.isNaN(member.metAtMs)) member.metAtMs = clock.now();
    },
  };
  deadlines.add(member);
  return member;
}

describe("deadlines", () => {
  it("know the clock's own time to one period, however late sweeps were", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    for (const ms of [100, 130, 8_000, 101, 100]) {
      sweepAfter(ms);
      assert.equal(deadlines.clockMs, clock.now() + 100);
    }
    deadlines.retime(40);
    assert.equal(deadlines.clockMs, clock.now() + 40);
    assert.equal(deadlines.nowMs, clock.now() - 30 - 7_900 - 1 + 40);
  });

  it("know the time without standstills: sweeps that are a little late are none", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    const startMs = deadlines.awakeMs;
    for (const ms of [100, 400, 1_500]) sweepAfter(ms);
    assert.equal(deadlines.awakeMs - startMs, 2_000);
    sweepAfter(60_000);
    assert.equal(deadlines.awakeMs - startMs, 2_100);
  });

  it("tell every member the time on every sweep, until it is deleted or all is closed", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    const told: number[] = [];
    const member = { sweep: (now: number) => void told.push(now) };
    deadlines.add(member);
    sweepAfter(100);
    sweepAfter(90);
    deadlines.delete(member);
    sweepAfter(100);
    deadlines.add(member);
    deadlines.close();
    sweepAfter(100);
    assert.deepEqual(told, [1_100, 1_190]);
  });

  it("do not count the time in which the process stood still", () => {
    const { clock, sweepAfter } = handClock();
    const deadlines = new Deadlines(clock, 100);
    const told: number[] = [];
    deadlines.add({ sweep: (nowMs) => void told.push(nowMs) });
    sweepAfter(60_000);
    sweepAfter(100);
    assert.deepEqual(told, [1_100, 1_200]);
  });

  it("that are set between two sweeps are met neither early nor more than two periods late", () => {
    for (let sinceSweepMs = 0; sinceSweepMs < 100; sinceSweepMs += 1) {
      for (const limitMs of [1, 99, 100, 101, 400, 1_050]) {
        const { clock, pass, sweepAfter } = handClock();
        const deadlines = new Deadlines(clock, 100);
        pass(sinceSweepMs);
        const member = timedMember(deadlines, clock, limitMs);
        sweepAfter(100 - sinceSweepMs);
        while (Number.isNaN(member.metAtMs)) sweepAfter(100);
        const tookMs = member.metAtMs - member.setAtMs;
        assert.ok(tookMs >= limitMs, `${limitMs} ms were over after ${tookMs}`);
        assert.ok(tookMs <= limitMs + 200, `${limitMs} ms were over only after ${tookMs}`);
      }
    }
  });

  it("are never met early, whenever they are set and however late the sweeps come", () => {
    const waits = fc.array(fc.record({ afterMs: fc.nat(700), isSweep: fc.boolean(), limitMs: fc.nat(500) }), { maxLength: 60 });
    fc.assert(
      fc.property(waits, (steps) => {
        const { clock, pass, sweepAfter } = handClock();
        const deadlines = new Deadlines(clock, 100);
        const members = steps.map(({ afterMs, isSweep, limitMs }) => {
          if (isSweep) sweepAfter(afterMs);
          else pass(afterMs);
          return timedMember(deadlines, clock, limitMs);
        });
        for (let sweeps = 0; sweeps < 10; sweeps++) sweepAfter(100);
        for (const { setAtMs, metAtMs, limitMs } of members) assert.ok(metAtMs - setAtMs >= limitMs);
      }),
    );
  });

  it("are never met early, whenever the period changes", () => {
    const waits = fc.array(
      fc.record({ afterMs: fc.nat(700), does: fc.constantFrom("sweep", "wait", 10, 100, 250), limitMs: fc.nat(500) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(waits, (steps) => {
        const { clock, pass, sweepAfter } = handClock();
        const deadlines = new Deadlines(clock, 100);
        const members = steps.map(({ afterMs, does, limitMs }) => {
          if (does === "sweep") sweepAfter(afterMs);
          else pass(afterMs);
          if (typeof does === "number") deadlines.retime(does);
          return timedMember(deadlines, clock, limitMs);
        });
        deadlines.retime(100);
        for (let sweeps = 0; sweeps < 20; sweeps++) sweepAfter(100);
        for (const { setAtMs, metAtMs, limitMs } of members) assert.ok(metAtMs - setAtMs >= limitMs);
      }),
    );
  });

  it("sweep in the new period at once, so that changes of it in a row put off no deadline", async () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, 250);
    const told: number[] = [];
    deadlines.add({ sweep: (nowMs) => void told.push(nowMs) });
    for (let n = 0; n < 6; n++) {
      await clock.advance(40);
      deadlines.retime(n % 2 === 0 ? 200 : 250);
    }
    assert.equal(told.length, 6);
    deadlines.retime(10);
    await clock.advance(100);
    assert.equal(told.length, 17);
    deadlines.close();
    assert.equal(clock.pending, 0);
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
