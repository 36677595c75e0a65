import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { WriteProgress } from "../../../core/wire/write-progress.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const PERIOD_MS = 250;
const LIMIT_MS = 10_000;
/** Two sweeps for the deadline, and an eighth of the limit until a reader is looked at closely. */
const LATEST_MS = LIMIT_MS + LIMIT_MS / 8 + 4 * PERIOD_MS;

/** What waits for the reader, and what is on its way to it, at the given time; undefined where the system does not tell. */
type Bytes = (nowMs: number) => number | undefined;

/** When a reader is found to take nothing; Infinity if it is not within ten times the limit. */
async function stalledAfter(waiting: Bytes, hidden: Bytes = () => undefined, prepare?: (progress: WriteProgress) => void) {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock, PERIOD_MS);
  const progress = new WriteProgress(deadlines, LIMIT_MS, { unreadBytes: 0 }, () => hidden(clock.now()));
  let stalledAtMs = Number.POSITIVE_INFINITY;
  deadlines.add({
    sweep(nowMs) {
      prepare?.(progress);
      if (progress.isStalled(waiting(clock.now()) ?? 0, nowMs)) stalledAtMs = Math.min(stalledAtMs, clock.now());
    },
  });
  await clock.advance(10 * LIMIT_MS);
  deadlines.close();
  return stalledAtMs;
}

const everySecond = (nowMs: number) => Math.floor(nowMs / 1000);

describe("a reader is found to take nothing", () => {
  for (const { name, waiting, hidden } of [
    { name: "when what waits stays the same", waiting: () => 5 },
    { name: "when what waits only grows", waiting: (nowMs: number) => 1 + nowMs },
    { name: "when what is on its way stays the same, too", waiting: () => 5, hidden: () => 1_000 },
    { name: "when nothing is on its way", waiting: () => 5, hidden: () => 0 },
  ] as readonly { name: string; waiting: Bytes; hidden?: Bytes }[]) {
    it(`after the limit, not before, ${name}`, async () => {
      const tookMs = await stalledAfter(waiting, hidden);
      assert.ok(tookMs >= LIMIT_MS, `${tookMs}`);
      assert.ok(tookMs <= LATEST_MS, `${tookMs}`);
    });
  }

  it("as soon after it stops as if it had never taken anything", async () => {
    for (const [waiting, hidden] of [
      [(nowMs: number) => 1_000 - Math.min(30, everySecond(nowMs))],
      [() => 5, (nowMs: number) => 1_000 - Math.min(30, everySecond(nowMs))],
    ] as readonly [Bytes, Bytes?][]) {
      const tookMs = (await stalledAfter(waiting, hidden)) - 30_000;
      assert.ok(tookMs >= LIMIT_MS, `${tookMs}`);
      assert.ok(tookMs <= LATEST_MS, `${tookMs}`);
    }
  });
});

describe("a reader is waited for", () => {
  for (const { name, waiting, hidden } of [
    { name: "while nothing waits for it", waiting: () => 0 },
    { name: "that takes a byte every nine seconds", waiting: (nowMs: number) => 1_000 - Math.floor(nowMs / 9_000) },
    {
      name: "that takes a byte a second of what is on its way",
      waiting: () => 5,
      hidden: (nowMs: number) => 1e6 - everySecond(nowMs),
    },
    { name: "that takes everything now and then", waiting: (nowMs: number) => (everySecond(nowMs) % 8 === 7 ? 0 : 5) },
  ] as readonly { name: string; waiting: Bytes; hidden?: Bytes }[]) {
    it(name, async () => assert.equal(await stalledAfter(waiting, hidden), Number.POSITIVE_INFINITY));
  }

  it("that took everything, and has as much before it again", async () => {
    const tookMs = await stalledAfter(
      () => 5,
      undefined,
      (progress) => progress.drained(),
    );
    assert.equal(tookMs, Number.POSITIVE_INFINITY);
  });
});
