import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { afterAwake, lostMs } from "../../../core/contract/standstill.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** What happened to a wait of 8 s: how long the clock ran from its begin to its end. */
async function waited(steps: (clock: FakeClock) => Promise<void>): Promise<number> {
  const clock = new FakeClock();
  let overAtMs = Number.NaN;
  afterAwake(clock, 8_000, () => {
    overAtMs = clock.now();
  });
  await steps(clock);
  await clock.advance(60_000);
  assert.equal(clock.pending, 0);
  return overAtMs;
}

describe("a wait for somebody else", () => {
  it("is over after its time, where the process runs", async () => {
    assert.equal(await waited(async () => {}), 8_000);
  });

  for (const stillMs of [2_000, 60_000, 3_600_000])
    it(`does not count a standstill of ${stillMs / 1000} s, whenever it is`, async () => {
      for (let ranMs = 0; ranMs < 8_000; ranMs += 500) {
        const overAtMs = await waited(async (clock) => {
          await clock.advance(ranMs);
          clock.standStill(stillMs);
        });
        const awakeMs = overAtMs - stillMs;
        assert.ok(awakeMs >= 7_000 && awakeMs <= 8_000 + 1_000, `over after ${awakeMs} ms, with a standstill at ${ranMs}`);
        assert.ok(overAtMs >= ranMs + stillMs + 1_000, "what came in the standstill has time to be read");
      }
    });

  it("comes to an end though the process stands still again and again", async () => {
    const clock = new FakeClock();
    let isOver = false;
    afterAwake(clock, 8_000, () => {
      isOver = true;
    });
    for (let turn = 0; turn < 10; turn++) {
      clock.standStill(5_000);
      await clock.advance(0);
    }
    assert.equal(isOver, true);
  });

  it("can be stopped at any time", async () => {
    for (const ms of [0, 500, 1_000, 7_900]) {
      const clock = new FakeClock();
      const stop = afterAwake(clock, 8_000, () => assert.fail("it was stopped"));
      await clock.advance(ms);
      stop();
      assert.equal(clock.pending, 0);
    }
  });
});

describe("lostMs", () => {
  for (const [tookMs, wantedMs, lost] of [
    [500, 500, 0],
    [1_500, 500, 0],
    [1_600, 500, 1_100],
    [60_000, 250, 59_750],
    [4_900, 5_000, 0],
    [9_000, 5_000, 4_000],
  ] as const)
    it(`${tookMs} ms for what takes ${wantedMs} ms: ${lost}`, () => assert.equal(lostMs(tookMs, wantedMs), lost));
});
