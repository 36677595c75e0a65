import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Engine } from "../../../core/mock/engine.ts";
import type { MockOptions } from "../../../core/mock/options.ts";
import { settingsOf } from "../../../core/mock/options.ts";
import { FakeClock } from "../../support/fake-clock.ts";

interface Run {
  readonly tokensAtMs: number[];
  finishedAtMs: number;
  cachedTokens: number;
  cancel: () => void;
}

function setUp(options: Partial<MockOptions> = {}) {
  const clock = new FakeClock();
  const engine = new Engine(settingsOf({ model: "m", clock, ...options }));
  function submit(promptTokens: number, replyTokens: number, firstToken = 0): Run {
    const run: Run = { tokensAtMs: [], finishedAtMs: Number.NaN, cachedTokens: -1, cancel: () => {} };
    run.cancel = engine.submit({
      prompt: Array.from({ length: promptTokens }, (_, index) => firstToken + index),
      replyTokens,
      cacheKey: "",
      adapter: "",
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

describe("the engine of a mock replica", () => {
  test("takes 8000 prompt tokens a second, then 6 ms and 0.35 ms per request for each token", async () => {
    const { clock, submit } = setUp();
    const run = submit(800, 3);
    await clock.advance(1000);
    assert.deepEqual(run.tokensAtMs, [100, 106.35, 112.7]);
    assert.equal(Math.round(run.finishedAtMs), 113);
  });

  test("computes a long prompt in chunks, between which other requests get tokens", async () => {
    const { clock, submit } = setUp();
    const short = submit(8, 4);
    const long = submit(4096, 1, 10_000);
    await clock.advance(2000);
    // The first chunk has room for 2040 tokens of the long prompt, the second for 2048, the last does the rest.
    assert.deepEqual(short.tokensAtMs, [256, 518.35, 525.7, 532.05]);
    assert.deepEqual(long.tokensAtMs, [525.7]);
  });

  test("prompts that arrive together and begin alike share what the first of them computes", async () => {
    const { clock, engine, submit } = setUp();
    const [first, second] = [submit(4096, 1), submit(4096, 1)];
    await clock.advance(1);
    assert.deepEqual([engine.running, engine.waiting], [1, 1]);
    await clock.advance(2000);
    assert.deepEqual([first.cachedTokens, second.cachedTokens], [0, 4080]);
    assert.deepEqual([first.tokensAtMs, second.tokensAtMs], [[512], [514]]);
  });

  test("steps have a fixed duration and a size of their own where options say so", async () => {
    const { clock, submit } = setUp({ overheadMs: 1, chunkTokens: 400 });
    const run = submit(800, 2);
    await clock.advance(1000);
    assert.deepEqual(run.tokensAtMs, [102, 109.35]);
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

  test("computes up to the limit of requests; the others wait in order", async () => {
    const { clock, engine, submit } = setUp({ maxRunning: 2 });
    const runs = [submit(8, 2), submit(8, 20, 100), submit(8, 1, 200), submit(8, 1, 300)];
    await clock.advance(1);
    assert.deepEqual([engine.running, engine.waiting], [2, 2]);
    await clock.advance(1000);
    assert.deepEqual([engine.running, engine.waiting], [0, 0]);
    const starts = runs.map((run) => run.tokensAtMs[0] ?? 0);
    assert.ok(starts[1]! < starts[2]! && starts[2]! < starts[3]!);
  });

  test("waits for free KV blocks", async () => {
    const { clock, engine, submit } = setUp({ kvTokens: 64 });
    submit(40, 8);
    const second = submit(40, 8, 100);
    await clock.advance(1);
    assert.deepEqual([engine.running, engine.waiting, engine.cache.usage], [1, 1, 0.75]);
    await clock.advance(1000);
    assert.equal(second.tokensAtMs.length, 8);
    assert.equal(engine.cache.usage, 0);
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
