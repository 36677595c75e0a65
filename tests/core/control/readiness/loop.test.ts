import assert from "node:assert/strict";
import { test } from "node:test";
import { Loop } from "../../../../core/control/readiness/loop.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("it tells when the next step comes: none before and after, the present one while it runs", async () => {
  const clock = new FakeClock();
  let end: (pauseMs: number) => void = () => {};
  const loop = new Loop(
    clock,
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  assert.equal(loop.nextAtMs, Number.NaN);
  loop.next(100);
  assert.equal(loop.nextAtMs, 100);
  await clock.advance(150);
  assert.equal(loop.nextAtMs, 150);
  end(50);
  await clock.advance(0);
  assert.equal(loop.nextAtMs, 200);
  loop.stop();
  assert.equal(loop.nextAtMs, Number.NaN);
});
