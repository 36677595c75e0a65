import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SlowdownSamples } from "../../../core/state/slowdown-samples.ts";

type Sample = readonly [least: number, most: number];

const { POSITIVE_INFINITY } = Number;
const times = (count: number, sample: Sample): Sample[] => Array.from({ length: count }, () => sample);
const USUAL: Sample = [1, 1];
const SLOW: Sample = [2, 2];
const WIDE: Sample = [0.3, POSITIVE_INFINITY];

function slowdownOf(samples: readonly Sample[], needed: number): number {
  const slowdowns = new SlowdownSamples();
  for (const sample of samples) {
    slowdowns.add(...sample);
    slowdowns.update(needed);
  }
  return slowdowns.slowdown;
}

describe("the slowdown of a replica, where three samples more must speak for it", () => {
  // biome-ignore format: a row a line
  const rows: readonly (readonly [name: string, samples: readonly Sample[], slowdown: number])[] = [
    ["nothing is known", [], 1],
    ["samples as usual", times(15, USUAL), 1],
    ["noise of some percent", [[1.05, 1.05], [0.93, 0.93], [1.08, 1.08], [1.02, 1.02], [0.97, 0.97]], 1],
    ["two slow samples", times(2, SLOW), 1],
    ["three slow samples", times(3, SLOW), 2],
    ["three slow samples after many usual ones", [...times(30, USUAL), ...times(3, SLOW)], 2],
    ["slow, and one wrong sample more", [...times(30, USUAL), ...times(3, SLOW), USUAL], 2],
    ["usual again", [...times(30, SLOW), ...times(3, USUAL)], 1],
    ["a slow one now and then", [...times(9, USUAL), SLOW, ...times(3, USUAL), SLOW, ...times(3, USUAL), SLOW], 1],
    ["a usual one between slow ones", [...times(9, USUAL), SLOW, SLOW, USUAL, SLOW, SLOW], 2],
    ["slow ones between wide ones", [WIDE, SLOW, [0.2, 40], WIDE, [2.1, 2.1], [0.5, POSITIVE_INFINITY], [1.9, 2], WIDE], 2],
    ["only wide ones", times(30, WIDE), 1],
    ["wrong ones that do not agree", [[3, 3], [9, 9], [1.6, 1.6], [25, 30], [2.2, 2.2], [5, 5], [12, 12]], 1],
    ["slow ones and wrong ones", [SLOW, [9, 9], [2.05, 2.05], [0.4, 0.4], [1.95, 1.95]], 2],
    ["three times as fast as usual", times(3, [0.33, 0.33]), 0.33],
    ["twice as slow, then four times", [...times(9, SLOW), ...times(3, [4, 4])], 4],
    ["nothing took any time", times(15, [0, 0]), 1],
  ];
  for (const [name, samples, expected] of rows) {
    it(name, () => {
      const slowdown = slowdownOf(samples, 3);
      assert.ok(Math.abs(Math.log(slowdown / expected)) <= Math.log(1.11), `${slowdown}`);
      if (expected === 1) assert.equal(slowdown, 1);
    });
  }
});

it("the fewer samples must speak for a slowdown, the sooner it is believed", () => {
  const counts = Array.from({ length: 16 }, (_, index) => index + 1);
  const enough = (needed: number) => counts.find((count) => slowdownOf(times(count, SLOW), needed) > 1);
  assert.deepEqual([1, 2.5, 7, 20].map(enough), [1, 3, 7, undefined]);
});

it("each sample agrees with what is believed, or does not", () => {
  const slowdowns = new SlowdownSamples();
  const rows: readonly (readonly [...Sample, agrees: boolean])[] = [
    [1, 1, true],
    [2, 2, false],
    [0.5, 9, true],
    [2, 2, true],
    [1, 1, false],
  ];
  for (const [least, most, agrees] of rows) {
    assert.equal(slowdowns.add(least, most), agrees, `${least} to ${most}`);
    slowdowns.update(1);
  }
});
