import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ScanJob, ScanTurns } from "../../../core/body/scan-turns.ts";
import { systemClock } from "../../../core/contract/clock.ts";

/** Turns of an event loop by hand; each step of a scan takes `stepMs`. */
function setUp(stepMs: number) {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const scanTurns = new ScanTurns({ ...systemClock, now: () => nowMs }, (run) => void turns.push(run));
  const steps: string[] = [];
  const job = (name: string, count: number): ScanJob => {
    let left = count;
    return {
      scanStep() {
        nowMs += stepMs;
        steps.push(name);
        left -= 1;
        return left > 0;
      },
    };
  };
  /** Runs one turn; returns how long it took, and the steps in it. */
  const turn = () => {
    const fromMs = nowMs;
    turns.shift()?.();
    return { tookMs: nowMs - fromMs, steps: steps.splice(0).join("") };
  };
  return { scanTurns, turns, job, turn };
}

describe("turns of scanning", () => {
  it("nothing runs before the next turn", () => {
    const { scanTurns, turns, job, turn } = setUp(1);
    scanTurns.add(job("a", 1));
    assert.equal(turns.length, 1);
    assert.deepEqual(turn(), { tookMs: 1, steps: "a" });
    assert.equal(turns.length, 0);
  });

  it("jobs take steps in turn, all together for no longer than a slice", () => {
    const { scanTurns, turns, job, turn } = setUp(1);
    scanTurns.add(job("a", 5));
    scanTurns.add(job("b", 3));
    assert.equal(turns.length, 1, "one turn for both");
    for (const steps of ["ab", "ab", "ab", "aa"]) assert.deepEqual(turn(), { tookMs: 2, steps });
    assert.equal(turns.length, 0);
  });

  it("a slow step ends its turn", () => {
    const { scanTurns, job, turn } = setUp(7);
    scanTurns.add(job("a", 2));
    assert.deepEqual(turn(), { tookMs: 7, steps: "a" });
    assert.deepEqual(turn(), { tookMs: 7, steps: "a" });
  });

  it("steps are short at first, longer while they are quick, and shorter after a slow one", () => {
    let nowMs = 0;
    const turns: (() => void)[] = [];
    const scanTurns = new ScanTurns({ ...systemClock, now: () => nowMs }, (run) => void turns.push(run));
    const steps: number[] = [];
    /** As an engine: the first KiB are ten times as slow as the rest, and later there is one pause. */
    const scanStep = (bytes: number) => {
      nowMs += bytes / (steps.length < 4 ? 1_000 : 100_000);
      if (steps.length === 10) nowMs += 3;
      steps.push(bytes);
      return steps.length < 13;
    };
    scanTurns.add({ scanStep });
    while (turns.length > 0) turns.shift()?.();
    const KIB = 1024;
    assert.deepEqual(steps, [512, 512, 512, 512, 512, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 8 * KIB, 8 * KIB, 4 * KIB, 8 * KIB]);
  });

  it("a job may be added again once it is done", () => {
    const { scanTurns, job, turn } = setUp(1);
    scanTurns.add(job("a", 1));
    turn();
    scanTurns.add(job("b", 1));
    assert.deepEqual(turn(), { tookMs: 1, steps: "b" });
  });
});
