import assert from "node:assert/strict";
import { test } from "node:test";
import { Intents } from "../../../core/control/intents.ts";
import type { Wish } from "../../../core/pool/operator-intents.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const DRAIN: Wish = { intent: "drain", reason: "new driver", by: "192.0.2.7", forMs: undefined, graceMs: 0 };
const SERVES = { intent: "serve", isInGrace: false };

function setUp() {
  const clock = new FakeClock();
  const changed: string[] = [];
  const causes: string[] = [];
  const intents = new Intents(clock, (name, cause) => {
    changed.push(name);
    causes.push(cause);
  });
  return { clock, changed, causes, intents };
}

test("an endpoint serves until something else is wanted, and again after that", () => {
  const { intents, changed, causes, clock } = setUp();
  assert.deepEqual(intents.standingOf("gpu1"), SERVES);
  intents.set("gpu1", DRAIN);
  assert.deepEqual(intents.standingOf("gpu1"), { intent: "drain", isInGrace: false });
  assert.deepEqual(intents.standingOf("gpu2"), SERVES);
  const sinceMs = clock.wall();
  assert.deepEqual(intents.of("gpu1"), {
    intent: "drain",
    reason: "new driver",
    by: "192.0.2.7",
    sinceMs,
    untilMs: undefined,
    graceUntilMs: sinceMs,
  });
  assert.equal(intents.clear("gpu1", "done"), true);
  assert.equal(intents.clear("gpu1", "done"), false);
  assert.deepEqual(intents.standingOf("gpu1"), SERVES);
  assert.deepEqual(changed, ["gpu1", "gpu1"]);
  assert.deepEqual(causes, ["", "done"]);
});

test("sessions have their grace, then the drain's time runs out", async () => {
  const { intents, changed, causes, clock } = setUp();
  intents.set("gpu1", { ...DRAIN, graceMs: 1_000, forMs: 5_000 });
  assert.deepEqual(intents.standingOf("gpu1"), { intent: "drain", isInGrace: true });
  await clock.advance(1_000);
  assert.deepEqual(intents.standingOf("gpu1"), { intent: "drain", isInGrace: false });
  await clock.advance(4_000);
  assert.deepEqual(intents.standingOf("gpu1"), SERVES);
  assert.deepEqual(changed, ["gpu1", "gpu1", "gpu1"]);
  assert.deepEqual(causes, ["", "", "its time is over"]);
});

test("a new wish replaces the old one with its times; a cordon has no grace", async () => {
  const { intents, clock } = setUp();
  intents.set("gpu1", { ...DRAIN, graceMs: 1_000, forMs: 5_000 });
  intents.set("gpu1", { ...DRAIN, intent: "cordon", graceMs: 1_000 });
  await clock.advance(10_000);
  assert.deepEqual(intents.standingOf("gpu1"), { intent: "cordon", isInGrace: false });
});

test("closing ends the timers", async () => {
  const { intents, changed, clock } = setUp();
  intents.set("gpu1", { ...DRAIN, graceMs: 1_000, forMs: 5_000 });
  intents.close();
  await clock.advance(10_000);
  assert.deepEqual(changed, ["gpu1"]);
});
