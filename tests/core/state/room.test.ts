import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineLimits } from "../../../core/state/engine-limits.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { ReplicaRoom } from "../../../core/state/room.ts";

const work = (tokens: number, hasFirstByte = true) => ({ tokens, hasFirstByte });
/** Milliseconds that a prompt of so many tokens takes before any speed is known. */
const tookMs = (tokens: number) => tokens / DEFAULT_RATE;

function setUp(rules = { concurrency: 0, tokens: 0 }) {
  const load = new LoadTable();
  const slot = load.slotOf("e0");
  const room = new ReplicaRoom(load, rules);
  const isFull = (nowMs = 0, isCalm = false) => room.fill(slot, isCalm, nowMs) >= 1;
  return { load, slot, room, isFull };
}

describe("a set room", () => {
  it("is that of requests under way", () => {
    const { load, slot, room, isFull } = setUp({ concurrency: 2, tokens: 0 });
    load.begin(slot, work(1_000_000), 0);
    assert.equal(isFull(), false);
    load.begin(slot, work(1), 0);
    assert.equal(isFull(), true);
    assert.equal(room.isFull(slot), true);
    load.end(slot);
    assert.equal(isFull(), false);
  });

  it("is that of prompt tokens; a replica with nothing to do takes any prompt", () => {
    const { load, slot, room, isFull } = setUp({ concurrency: 0, tokens: 1_000 });
    assert.equal(isFull(), false);
    const large = work(5_000);
    load.begin(slot, large, 0);
    assert.equal(isFull(), true);
    assert.equal(room.isFull(slot), false);
    load.endPrefill(slot, large, true, 10);
    assert.equal(isFull(10), false);
  });

  it("is none where the replica asked to be left alone, until that time is over", () => {
    const { load, slot, isFull } = setUp({ concurrency: 2, tokens: 0 });
    load.pause(slot, 500);
    assert.equal(isFull(499), true);
    assert.equal(isFull(501), false);
  });
});

describe("a learned room", () => {
  it("is larger while nobody waits", () => {
    const { load, slot, isFull } = setUp();
    load.begin(slot, work(300 * DEFAULT_RATE), 0);
    assert.equal(isFull(0, false), true);
    assert.equal(isFull(0, true), false);
    // Time makes room, as the prompt is worked on.
    assert.equal(isFull(260, false), false);
  });

  it("is none while a first token is overdue, but for a trial a second", () => {
    const { load, slot, isFull } = setUp();
    load.begin(slot, work(80), 0);
    load.begin(slot, work(80), 0);
    const dueMs = 2 * tookMs(80) + 100;
    assert.equal(isFull(dueMs - 1), false);
    assert.equal(isFull(dueMs + 1), true);
    assert.equal(isFull(dueMs + 2_001), false);
  });

  it("is not judged by an overdue token where the engine says that nothing waits", () => {
    const { load, slot, isFull } = setUp();
    load.begin(slot, work(80), 0);
    load.begin(slot, work(80), 0);
    load.scraped(slot, { waiting: 0, running: 2 }, 290);
    assert.equal(isFull(300), false);
  });

  it("ends at what the engine runs at most, and begins where a request ends", () => {
    const { load, slot, room } = setUp();
    for (let count = 0; count < 10; count++) load.begin(slot, work(0), 0);
    for (let times = 1; times <= 5; times++) {
      assert.equal(room.isFull(slot), false, `after ${times - 1} reports`);
      load.scraped(slot, { waiting: 2, running: 8 }, times);
    }
    assert.equal(room.isFull(slot), true);
    for (let count = 0; count < 3; count++) load.end(slot);
    assert.equal(room.isFull(slot), false);
    load.begin(slot, work(0), 6);
    assert.equal(room.isFull(slot), true);
    // Metrics that are too old have no say.
    load.fade(slot, 0);
    assert.equal(room.isFull(slot), false);
  });
});

describe("the limits of engines", () => {
  const limits = new EngineLimits(1);

  it("are not shown by queues alone", () => {
    for (let running = 1; running < 20; running++) limits.reported(0, { waiting: 3, running }, running + 3);
    assert.equal(limits.of(0), Number.POSITIVE_INFINITY);
  });

  it("are shown by a full cache at once", () => {
    limits.reported(0, { waiting: 3, running: 7, kvUsage: 0.97 }, 10);
    assert.equal(limits.of(0), 7);
  });

  it("grow while they are used and nothing waits, and stay while they are not", () => {
    limits.reported(0, { waiting: 0, running: 2, kvUsage: 0.2 }, 2);
    assert.equal(limits.of(0), 7);
    limits.reported(0, { waiting: 0, running: 7, kvUsage: 0.2 }, 7);
    assert.ok(limits.of(0) > 7 && limits.of(0) < 8);
  });

  it("are forgotten with another replica", () => {
    limits.reported(0, {}, 7);
    assert.equal(limits.of(0), Number.POSITIVE_INFINITY);
  });
});
