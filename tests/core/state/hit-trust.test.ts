import assert from "node:assert/strict";
import { test } from "node:test";
import { HitTrust } from "../../../core/state/hit-trust.ts";

test("the trust is 1 before any report", () => {
  const trust = new HitTrust();
  trust.learn(0, 0, 500);
  assert.equal(trust.of(0), 1);
});

test("approaches the reported share, in that slot only", () => {
  const trust = new HitTrust();
  for (let i = 0; i < 1000; i++) trust.learn(3, 2000, i % 2 === 0 ? 2000 : 0);
  assert.ok(Math.abs(trust.of(3) - 0.5) < 0.01, `${trust.of(3)}`);
  assert.equal(trust.of(2), 1);
  trust.forget(3);
  assert.equal(trust.of(3), 1);
});

for (const [what, reported, bound] of [
  ["nothing is ever cached", 0, 0.1],
  ["reports are impossibly high", 1e9, 1.25],
] as const) {
  test(`stays within bounds when ${what}`, () => {
    const trust = new HitTrust();
    for (let i = 0; i < 1000; i++) trust.learn(0, 10_000, reported);
    assert.equal(trust.of(0), bound);
  });
}
