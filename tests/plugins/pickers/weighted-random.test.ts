import assert from "node:assert/strict";
import { test } from "node:test";
import weightedRandom from "../../../plugins/pickers/weighted-random.ts";
import { makeEndpoints, seededRandom } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const picker = createPlugin(weightedRandom);

/** How often each of the candidates came first in 10,000 rounds. */
function firsts(totals: readonly number[]): readonly number[] {
  const random = seededRandom(11);
  const counts = totals.map(() => 0);
  for (let round = 0; round < 10_000; round++) counts[picker.pick(makeEndpoints(totals.length), totals, random)[0]!.slot]! += 1;
  return counts;
}

test("each comes first in proportion to its total", () => {
  const [a, b, c] = firsts([0.5, 0.3, 0.2]);
  assert.ok(Math.abs(a! - 5000) < 150 && Math.abs(b! - 3000) < 150 && Math.abs(c! - 2000) < 150, `${a} ${b} ${c}`);
});

test("tiny totals keep their proportion", () => {
  const [a, b] = firsts([3e-6, 1e-6]);
  assert.ok(Math.abs(a! - 7500) < 150, `${a} ${b}`);
});

test("a total of 0 comes last; if all are 0, all are equally likely", () => {
  assert.equal(firsts([0, 0.001])[0], 0);
  const [a, b] = firsts([0, 0]);
  assert.ok(Math.abs(a! - b!) < 300, `${a} ${b}`);
});

test("a random number of 0 works", () => {
  const order = picker.pick(makeEndpoints(2), [0, 0.5], () => 0);
  assert.deepEqual(
    order.map(({ slot }) => slot),
    [1, 0],
  );
});
