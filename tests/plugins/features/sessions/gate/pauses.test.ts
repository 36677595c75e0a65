import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Pauses } from "../../../../../plugins/features/sessions/gate/pauses.ts";

/** Pauses of these lengths in seconds, each so many times. */
function pausesOf(returned: Readonly<Record<number, number>>, lost: Readonly<Record<number, number>> = {}): Pauses {
  const pauses = new Pauses();
  for (const [seconds, times] of Object.entries(returned))
    for (let time = 0; time < times; time++) pauses.returned(Number(seconds) * 1000);
  for (const [seconds, times] of Object.entries(lost))
    for (let time = 0; time < times; time++) pauses.lost(Number(seconds) * 1000);
  return pauses;
}

const perSecond = (pauses: Pauses, pausedS: number) => pauses.rate(pausedS * 1000) * 1000;

describe("how soon sessions come back", () => {
  it("is the share that comes back, by the time that they are kept for it", () => {
    const pauses = pausesOf({ 10: 900, 1000: 100 });
    // Nine of ten after 10 s: 0.9 returns in about 10 s.
    assert.ok(perSecond(pauses, 0) > 0.07 && perSecond(pauses, 0) < 0.12, String(perSecond(pauses, 0)));
    // Of those that have not come by 20 s, all come after 1,000 s.
    assert.ok(perSecond(pauses, 20) < 0.0015 && perSecond(pauses, 20) > 0.0005, String(perSecond(pauses, 20)));
  });

  it("rises shortly before most of them come", () => {
    const pauses = pausesOf({ 60: 1_000 });
    assert.ok(perSecond(pauses, 50) > 2 * perSecond(pauses, 0));
  });

  it("counts those that nobody waited for as there up to then, and not as coming back then", () => {
    const [kept, cut] = [pausesOf({ 5: 500, 100: 500 }), pausesOf({ 5: 500 }, { 20: 500 })];
    assert.ok(Math.abs(perSecond(kept, 0) / perSecond(cut, 0) - 1) < 0.05);
    assert.ok(perSecond(cut, 20) < 0.15 * perSecond(cut, 0));
  });

  it("is known roughly before anybody has come back: the longer a pause, the less", () => {
    const pauses = new Pauses();
    const rates = [0, 1, 10, 100, 1_000, 10_000].map((seconds) => perSecond(pauses, seconds));
    assert.ok(rates.every((rate, at) => rate > 0 && rate <= (rates[at - 1] ?? Number.POSITIVE_INFINITY)));
  });

  it("is a number for any pause", () => {
    const pauses = pausesOf({ 1: 3 });
    for (const ms of [0, -1, Number.NaN, 1e15, Number.POSITIVE_INFINITY]) {
      pauses.returned(ms);
      assert.ok(pauses.rate(ms) >= 0 && Number.isFinite(pauses.rate(ms)), String(ms));
    }
  });
});
