import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Engine } from "../../../../apps/lab/mock/engine.ts";
import type { MockOptions } from "../../../../apps/lab/mock/options.ts";
import { settingsOf } from "../../../../apps/lab/mock/options.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

interface Run {
  readonly tokensAtMs: number[];
  finishedAtMs: number;
  cachedTokens: number;
  cancel: () => void;
}

function setUp(options: Partial<MockOptions> = {}) {
  const clock = new FakeClock();
  const engine = new Engine(settingsOf({ model: "m", clock, ...options }));
  function submit(promptTokens: number, replyTokens: number, firstToken = 0, adapter = ""): Run {
    const run: Run = { tokensAtMs: [], finishedAtMs: Number.NaN, cachedTokens: -1, cancel: () => {} };
    run.cancel = engine.submit({
      prompt: Array.from({ length: promptTokens }, (_, index) => firstToken + index),
      replyTokens,
      cacheKey: "",
      adapter,
      admitted: (cachedTokens) => {
        run.cachedTokens = cachedTokens;
      },
      token: () => run.tokensAtMs.push(Math.round(clock.now() * 1000) / 1000),
      finished: () => {
        run.finishedAtMs = clock.now();
      },
    });
    return run;
  }
  return { clock, engine, submit };
}

// How steps are batched and what waits is the engine model's, tested with it and with the simulator's replica.
describe("the engine of a mock replica", () => {
  test("takes 8000 prompt tokens a second, then 6 ms and 0.35 ms per request for each token", async () => {
    const { clock, submit } = setUp();
    const run = submit(800, 3);
    await clock.advance(1000);
    assert.deepEqual(run.tokensAtMs, [100, 106.35, 112.7]);
    assert.equal(Math.round(run.finishedAtMs), 113);
  });

  test("a repeated prefix has a visibly shorter time to the first token", async () => {
    const { clock, submit } = setUp();
    submit(1601, 1);
    await clock.advance(1000);
    const again = submit(1601, 1);
    await clock.advance(1000);
    assert.equal(again.cachedTokens, 1600);
    assert.deepEqual(again.tokensAtMs, [1000.125]);
  });

  test("an aborted request, waiting or running, leaves at once and reports nothing more", async () => {
    const { clock, engine, submit } = setUp({ maxRunning: 1 });
    const running = submit(8, 100);
    const waiting = submit(8, 100, 100);
    await clock.advance(50);
    waiting.cancel();
    running.cancel();
    assert.deepEqual([engine.running, engine.waiting, engine.cache.usage, engine.totals.aborted], [0, 0, 0, 2]);
    const told = running.tokensAtMs.length;
    await clock.advance(1000);
    assert.equal(running.tokensAtMs.length, told);
    assert.deepEqual(waiting.tokensAtMs, []);
    assert.equal(clock.pending, 0);
  });

  test("defers adapters beyond those that run together, lets others go on, and says so", async () => {
    const { clock, engine, submit } = setUp({ maxLoras: 1 });
    const first = submit(100, 100, 0, "a");
    const deferred = submit(100, 1, 0, "b");
    const left = submit(100, 1, 0, "c");
    const same = submit(100, 1, 0, "a");
    const base = submit(100, 1);
    await clock.advance(300);
    assert.deepEqual([engine.running, engine.waiting, engine.deferred], [1, 0, 2]);
    left.cancel();
    assert.deepEqual(
      [same, base, deferred].map(({ tokensAtMs }) => tokensAtMs.length),
      [1, 1, 0],
    );
    assert.deepEqual(engine.adapters, ["a", "b"]);
    await clock.advance(1000);
    assert.ok(first.finishedAtMs <= deferred.tokensAtMs[0]!);
    assert.deepEqual([engine.running, engine.waiting, engine.deferred], [0, 0, 0]);
  });

  test("scales its time", async () => {
    const { clock, submit } = setUp({ timeScale: 0.01 });
    const run = submit(800, 2);
    await clock.advance(100);
    assert.deepEqual(run.tokensAtMs, [1, 1.064]);
  });

  test("takes no time with a time scale of 0", async () => {
    const { clock, submit } = setUp({ timeScale: 0 });
    const run = submit(800, 3);
    for (let turn = 0; turn < 10; turn++) await clock.advance(0);
    assert.deepEqual(run.tokensAtMs, [0, 0, 0]);
  });
});
