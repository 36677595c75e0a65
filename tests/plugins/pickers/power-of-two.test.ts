import assert from "node:assert/strict";
import { test } from "node:test";
import powerOfTwo from "../../../plugins/pickers/power-of-two.ts";
import { makeEndpoints, seededRandom } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const picker = createPlugin(powerOfTwo);

/** How often each of the candidates came first in 12,000 rounds. */
function firsts(totals: readonly number[]): readonly number[] {
  const random = seededRandom(5);
  const counts = totals.map(() => 0);
  for (let round = 0; round < 12_000; round++) counts[picker.pick(makeEndpoints(totals.length), totals, random)[0]!.slot]! += 1;
  return counts;
}

test("the best of three wins whenever it is drawn, the worst never", () => {
  const [best, middle, worst] = firsts([0.9, 0.5, 0.1]);
  assert.ok(Math.abs(best! - 8000) < 200 && Math.abs(middle! - 4000) < 200, `${best} ${middle}`);
  assert.equal(worst, 0);
});

test("of two candidates, always the better", () => assert.deepEqual(firsts([0.1, 0.2]), [0, 12_000]));

test("equal totals come first equally often", () => {
  const [a, b] = firsts([0.5, 0.5]);
  assert.ok(Math.abs(a! - b!) < 400, `${a} ${b}`);
});

test("the other one drawn is the next to try", () => {
  const order = picker.pick(makeEndpoints(4), [0.1, 0.2, 0.3, 0.4], () => 0);
  const [first, second] = order.map(({ slot }) => slot);
  assert.ok(first! > second!);
});
