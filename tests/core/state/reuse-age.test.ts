import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ReuseAge } from "../../../core/state/reuse-age.ts";

test("before any prompt was used again, none is expected to be", () => {
  const reuse = new ReuseAge();
  assert.deepEqual([reuse.chanceAt(0), reuse.chanceAt(1_000)], [0, 0]);
});

test("at the usual age of a reuse the chance is a half, and it falls from there on", () => {
  const reuse = new ReuseAge();
  for (const age of [30, 50, 70]) reuse.learn(age);
  assert.equal(reuse.chanceAt(49), 0.5);
  assert.equal(reuse.chanceAt(449), 0.1);
});

test("old reuses are forgotten when the traffic changes", () => {
  const reuse = new ReuseAge();
  for (let count = 0; count < 10_000; count++) reuse.learn(1_000);
  for (let count = 0; count < 1_000; count++) reuse.learn(9);
  const chance = reuse.chanceAt(9);
  assert.ok(chance > 0.45 && chance < 0.5, `${chance}`);
});

test("whatever ages it learns, a chance is in [0, 1) and does not rise with the age", () => {
  const ages = fc.nat({ max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(fc.array(ages, { maxLength: 300 }), ages, ages, (learned, one, other) => {
      const reuse = new ReuseAge();
      for (const age of learned) reuse.learn(age);
      const sooner = reuse.chanceAt(Math.min(one, other));
      const later = reuse.chanceAt(Math.max(one, other));
      assert.ok(later >= 0 && later <= sooner && sooner < 1, `${sooner} and ${later}`);
    }),
    { numRuns: 200 },
  );
});
