import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Starvation } from "./starvation.ts";

/** Looks from `fromMs` to `toMs` at that pace. */
function looks(starvation: Starvation, fromMs: number, toMs: number, everyMs: number): void {
  for (let atMs = fromMs; atMs <= toMs; atMs += everyMs) starvation.look(atMs);
}

describe("a process without enough processor", () => {
  it("is noticed when its timers are late, with its time", () => {
    const starvation = new Starvation();
    looks(starvation, 0, 10_000, 100);
    assert.equal(starvation.totalMs, 0);
    looks(starvation, 10_300, 20_000, 300);
    looks(starvation, 20_100, 40_000, 100);
    assert.ok(starvation.wasDuring(15_000, 16_000));
    assert.ok(!starvation.wasDuring(0, 4_000));
    assert.ok(!starvation.wasDuring(26_000, 40_000));
  });

  it("is noticed when it stood still once", () => {
    const starvation = new Starvation();
    looks(starvation, 0, 10_000, 100);
    starvation.look(12_000);
    assert.ok(starvation.wasDuring(11_000, 11_500));
  });

  it("is not seen in timers that are a little late", () => {
    const starvation = new Starvation();
    looks(starvation, 0, 60_000, 115);
    assert.equal(starvation.totalMs, 0);
  });
});
