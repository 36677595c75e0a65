import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawShare } from "../../../plugins/rewriters/share-draw.ts";
import { shuffledTurn } from "../../../plugins/rewriters/shuffled-turn.ts";

/** The targets of the first `count` draws. */
const drawn = (weights: readonly number[], count: number) =>
  Array.from({ length: count }, (_, n) => drawShare(weights, shuffledTurn("food/0", weights, n)));

const cases: readonly (readonly [weights: readonly number[], run: number])[] = [
  [[50, 50], 2],
  [[90, 10], 10],
  [[99, 1], 100],
  [[0, 70, 30], 10],
  [[7], 1],
];

for (const [weights, run] of cases) {
  describe(`weights ${weights.join("/")}, shuffled`, () => {
    const targets = drawn(weights, run * 2_000);
    const sum = weights.reduce((total, weight) => total + weight, 0);

    it("are exact over every whole run", () => {
      for (let at = 0; at < targets.length; at += run)
        for (const [target, weight] of weights.entries())
          assert.equal(targets.slice(at, at + run).filter((each) => each === target).length, (run * weight) / sum);
    });

    it("give every place of a run to each target as often as its weight says", () => {
      const last = weights.length - 1;
      for (const place of [0, Math.floor(run / 2), run - 1]) {
        const count = targets.filter((target, n) => n % run === place && target === last).length;
        const share = weights[last]! / sum;
        assert.ok(Math.abs(count - 2_000 * share) <= 5 * Math.sqrt(2_000 * share), `place ${place}: ${count}`);
      }
    });
  });
}
