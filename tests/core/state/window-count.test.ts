import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WindowCount } from "../../../core/state/window-count.ts";

/** Ten buckets of a second, with one event at each of these times. */
function counted(...timesMs: readonly number[]): WindowCount {
  const count = new WindowCount(10_000);
  for (const atMs of timesMs) count.add(atMs);
  return count;
}

describe("events of the last ten buckets", () => {
  for (const [name, timesMs, nowMs, total] of [
    ["none", [], 5_000, 0],
    ["all in one bucket", [0, 1, 999], 999, 3],
    ["until their bucket is over", [0, 500, 1_000], 9_999, 3],
    ["without those of the bucket that is over", [0, 500, 1_000], 10_000, 1],
    ["none after a long silence", [0, 500, 1_000], 3_600_000, 0],
    ["with one that comes late, in the present bucket", [20_000, 500], 20_000, 2],
  ] as const) {
    it(name, () => assert.equal(counted(...timesMs).total(nowMs), total));
  }

  it("one is taken back from the present bucket only", () => {
    const count = counted(0, 1_000);
    count.takeBack(1_500);
    count.takeBack(1_500);
    assert.equal(count.total(1_500), 1);
    assert.equal(count.total(10_000), 0);
  });

  it("are as many as a plain list says, whatever the times are", () => {
    const count = new WindowCount(10_000);
    const seconds: number[] = [];
    for (let step = 0, nowMs = 0; step < 2_000; step++) {
      nowMs += (step * 7_919) % 1_700;
      const second = Math.floor(nowMs / 1_000);
      if (step % 3 === 0) assert.equal(count.total(nowMs), seconds.filter((one) => one > second - 10).length);
      count.add(nowMs);
      seconds.push(second);
    }
  });

  it("are forgotten at once when cleared", () => {
    const count = counted(0, 1_000);
    count.clear();
    assert.equal(count.total(1_000), 0);
    count.add(1_000);
    assert.equal(count.total(30_000), 0);
  });
});
