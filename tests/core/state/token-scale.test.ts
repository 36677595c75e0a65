import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenScale } from "../../../core/state/token-scale.ts";

test("estimates are not corrected before the first report", () => {
  assert.equal(new TokenScale().scaled("completions", 123), 123);
});

test("approaches the reported ratio, for that API only", () => {
  const scale = new TokenScale();
  for (let i = 0; i < 100; i++) scale.learn("completions", 500, 1500);
  const factor = scale.factor("completions");
  assert.ok(factor > 2.9 && factor < 3, `factor ${factor}`);
  assert.equal(scale.factor("chat-completions"), 1);
});

test("follows a change within a few million tokens", () => {
  const scale = new TokenScale();
  for (let i = 0; i < 1000; i++) scale.learn("a", 10_000, 20_000);
  for (let i = 0; i < 1000; i++) scale.learn("a", 10_000, 5_000);
  assert.ok(Math.abs(scale.factor("a") - 0.5) < 0.01);
});

test("one prompt changes it little", () => {
  const scale = new TokenScale();
  scale.learn("a", 20, 160);
  assert.ok(scale.factor("a") < 1.2);
});

for (const [what, estimated, reported] of [
  ["an image", 300_000, 1_000],
  ["a prompt of a few bytes", 2, 16],
  ["an unknown length", 1_000, Number.NaN],
  ["no tokens", 1_000, 0],
  ["more tokens than bytes", 1_000, 9_000],
] as const) {
  test(`${what} changes nothing`, () => {
    const scale = new TokenScale();
    scale.learn("a", estimated, reported);
    assert.equal(scale.factor("a"), 1);
  });
}
