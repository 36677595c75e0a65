import assert from "node:assert/strict";
import { test } from "node:test";
import { Loop } from "../../../../core/control/readiness/loop.ts";
import { OutOfTurn } from "../../../../core/control/readiness/out-of-turn.ts";
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

test("who asks for a step within some time puts off none that comes sooner, nor one that is due", async () => {
  const clock = new FakeClock();
  const stepsAtMs: number[] = [];
  const loop = new Loop(clock, () => {
    stepsAtMs.push(clock.now());
    return Promise.resolve(5_000);
  });
  // It is called before the loop's own timer at each moment.
  clock.every(500, () => loop.within(1_000));
  loop.next(700);
  await clock.advance(3_600);
  assert.deepEqual(stepsAtMs, [700, 2_000, 3_500]);
});

test("steps that are asked for again and again come, a second apart", async () => {
  const clock = new FakeClock();
  const stepsAtMs: number[] = [];
  const turn = new OutOfTurn();
  const loop = new Loop(clock, () => {
    stepsAtMs.push(clock.now());
    return Promise.resolve(60_000);
  });
  clock.every(500, () => turn.plan(loop, clock.now()));
  await clock.advance(4_600);
  assert.deepEqual(stepsAtMs, [500, 1_500, 2_500, 3_500, 4_500]);
});
