import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SlidingWindow } from "../../../core/state/sliding-window.ts";

/** Ten buckets of a second, with one event at each of these times; what is counted beside them must not change them. */
function counted(...timesMs: readonly number[]): SlidingWindow {
  const window = new SlidingWindow(1_000, 10, 2);
  for (const atMs of timesMs) {
    window.add(0, 1, atMs);
    window.add(1, 100, atMs);
  }
  return window;
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
    it(name, () => {
      assert.equal(counted(...timesMs).sum(0, nowMs), total);
      assert.deepEqual([...counted(...timesMs).sums(nowMs)], [total, 100 * total]);
    });
  }

  it("are as many as a plain list says, whatever the times are", () => {
    const window = counted();
    const seconds: number[] = [];
    for (let step = 0, nowMs = 0; step < 2_000; step++) {
      nowMs += (step * 7_919) % 1_700;
      const second = Math.floor(nowMs / 1_000);
      if (step % 3 === 0) assert.equal(window.sum(0, nowMs), seconds.filter((one) => one > second - 10).length);
      window.add(0, 1, nowMs);
      seconds.push(second);
    }
  });

  it("can be read bucket by bucket", () => {
    const window = counted(0, 1_000, 1_500, 3_000);
    window.at(3_000);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((ago) => window.numbers[window.before(ago)]),
      [1, 0, 2, 1, 0],
    );
  });

  it("are forgotten at once when cleared", () => {
    const window = counted(0, 1_000);
    window.clear();
    assert.equal(window.sum(0, 1_000), 0);
    window.add(0, 1, 1_000);
    assert.equal(window.sum(0, 30_000), 0);
  });
});
