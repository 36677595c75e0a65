import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEW_REPLICA, type ReplicaHealth } from "../../../../core/control/readiness/replica-health.ts";
import { jittered, roundPauseMs, startupWindowMs } from "../../../../core/control/readiness/schedule.ts";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";

const starting: ReplicaHealth = { ...NEW_REPLICA, phase: "starting", isStarted: false, isServing: false, isAlive: true };
const overdue: ReplicaHealth = { ...starting, phase: "not-ready" };
const ready: ReplicaHealth = { ...NEW_REPLICA, phase: "ready", isStarted: true, isServing: true, isAlive: true };
const lost: ReplicaHealth = { ...ready, phase: "not-ready", isServing: false };

describe("pause before the next round", () => {
  const rows = [
    ["starting, first miss", starting, 1, 250],
    ["starting, second miss", starting, 2, 500],
    ["starting, fourth miss", starting, 4, 2_000],
    ["starting, for a long time: still noticed within two seconds", starting, 800, 2_000],
    ["startup overdue: once a startup period", overdue, 900, 30_000],
    ["ready: once a readiness period", ready, 0, 5_000],
    ["fallen out of service: asked again soon", lost, 1, 250],
    ["fallen out of service: then once a readiness period", lost, 6, 5_000],
    ["fallen out of service, for a very long time: the doubling does not overflow", lost, 5_000, 5_000],
  ] as const;
  for (const [name, health, misses, expectedMs] of rows) {
    test(name, () => assert.equal(roundPauseMs(health, misses, PROBE_DEFAULTS), expectedMs));
  }

  test("a shorter startup period bounds the pause", () => {
    const probes = { ...PROBE_DEFAULTS, startup: { ...PROBE_DEFAULTS.startup, periodMs: 300 } };
    assert.equal(roundPauseMs(starting, 9, probes), 300);
  });

  test("jitter only shortens, by a tenth at most", () => {
    assert.equal(jittered(1_000, 0), 1_000);
    assert.equal(jittered(1_000, 0.5), 950);
    assert.ok(jittered(1_000, 0.999) > 900);
  });

  test("a startup may take its delay and all its periods: half an hour by default", () => {
    assert.equal(startupWindowMs(PROBE_DEFAULTS.startup), 15_000 + 30 * 60_000);
  });
});
