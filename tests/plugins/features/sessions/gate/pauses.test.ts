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
    // Nine of ten after 10 s: 0.9 returns in about 10 s, and 0.9 times another one's.
    assert.ok(perSecond(pauses, 0) > 0.13 && perSecond(pauses, 0) < 0.23, String(perSecond(pauses, 0)));
    // Of those that have not come by 20 s, all come after 1,000 s.
    assert.ok(perSecond(pauses, 20) < 0.003 && perSecond(pauses, 20) > 0.001, String(perSecond(pauses, 20)));
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

  it("counts the chance of a return once more: who comes back to no place displaces another", () => {
    // All come back after 60 s: a whole prompt in a minute, and another one that is not displaced.
    const rate = perSecond(pausesOf({ 60: 10_000 }), 0);
    assert.ok(rate > 0.9 * (2 / 60) && rate < 1.1 * (2 / 60), String(rate));
  });

  it("is that of a wider kind until some of its own are known", () => {
    const wider = pausesOf({ 10: 1_000 });
    const own = new Pauses(wider);
    assert.ok(Math.abs(perSecond(own, 0) / perSecond(wider, 0) - 1) < 0.01);
    for (let time = 0; time < 1_000; time++) own.returned(300_000);
    assert.ok(perSecond(own, 0) < 0.2 * perSecond(wider, 0));
  });

  it("follows the wider kind while it has none of its own", () => {
    const wider = new Pauses();
    const own = new Pauses(wider);
    own.rate(0);
    for (let time = 0; time < 1_000; time++) wider.returned(10_000);
    assert.ok(Math.abs(perSecond(own, 0) / perSecond(wider, 0) - 1) < 0.01);
  });

  it("is a number for any pause", () => {
    const pauses = pausesOf({ 1: 3 });
    for (const ms of [0, -1, Number.NaN, 1e15, Number.POSITIVE_INFINITY]) {
      pauses.returned(ms);
      assert.ok(pauses.rate(ms) >= 0 && Number.isFinite(pauses.rate(ms)), String(ms));
    }
  });
});
