import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lateReason, orderVerdict } from "./verdict.ts";

const FAST = { name: "fast", simulated: [1.0, 1.1], live: 1.2 };
const SLOW = { name: "slow", simulated: [2.0, 2.2], live: 2.5 };
const SWAPPED = { name: "swapped", simulated: [3, 3.1], live: 1.1 };

describe("the order of policies", () => {
  it("is the same where sockets have each clear pair as the simulator has it", () => {
    assert.deepEqual(orderVerdict([SLOW, FAST]), { clear: [["fast", "slow"]], swapped: [] });
  });

  it("is another one where a clear pair is the other way round", () => {
    const { clear, swapped } = orderVerdict([FAST, SLOW, SWAPPED]);
    assert.equal(clear.length, 3);
    assert.deepEqual(swapped, [
      ["fast", "swapped"],
      ["slow", "swapped"],
    ]);
  });

  it("leaves out pairs whose seeds overlap or touch in the simulator", () => {
    const close = { name: "close", simulated: [1.1, 1.3], live: 0.1 };
    assert.deepEqual(orderVerdict([FAST, close]).clear, []);
  });

  it("is not the same where a figure is missing", () => {
    assert.deepEqual(orderVerdict([FAST, { ...SLOW, live: Number.NaN }]).swapped, [["fast", "slow"]]);
  });
});

describe("a run that was late", () => {
  const punctual = { sendP99Ms: 10, senderLoopP99Ms: 8, replicasLoopP99Ms: 9, longestStallMs: 40 };

  it("is told from one in time by half a second of the trace's own time", () => {
    assert.equal(lateReason(punctual, 10), undefined);
    assert.equal(lateReason({ ...punctual, sendP99Ms: 50 }, 10), undefined);
    assert.equal(lateReason({ ...punctual, sendP99Ms: 51 }, 10), "requests were sent late (p99): 0.51 s of the trace");
    assert.match(lateReason(punctual, 60) ?? "", /^requests .*0\.60 s.*, the replicas' .*0\.54 s/);
  });

  it("is also one in which an event loop stood still for seconds", () => {
    assert.match(lateReason({ ...punctual, longestStallMs: 301 }, 10) ?? "", /^an event loop stood still: 3\.01 s/);
  });

  it("is also one of which nothing is known", () => {
    assert.match(lateReason({ ...punctual, replicasLoopP99Ms: Number.NaN }, 1) ?? "", /replicas/);
  });
});
