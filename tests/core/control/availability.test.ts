import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Availability, availability, type Standing } from "../../../core/control/availability.ts";

const HEALTHY: Standing = {
  health: "ready",
  intent: "serve",
  isInGrace: false,
  ejection: undefined,
  isOnTrial: false,
  isNeeded: false,
  warmUp: 1,
};
const ejection = { reason: "5 resets in a row", sinceMs: 0, untilMs: 30_000 };

const draining = (stillTakes: Availability["stillTakes"]) =>
  ({ phase: "draining", isAvailable: false, stillTakes, share: 1 }) satisfies Availability;
const cordoned = (stillTakes: Availability["stillTakes"]) => ({ ...draining(stillTakes), phase: "cordoned" as const });

describe("whether an endpoint may be used", () => {
  const rows: readonly (readonly [name: string, standing: Partial<Standing>, wanted: Availability])[] = [
    ["healthy", {}, { phase: "ready", isAvailable: true, stillTakes: "nothing", share: 1 }],
    ["warming up", { warmUp: 0.25 }, { phase: "ready", isAvailable: true, stillTakes: "nothing", share: 0.25 }],
    ["starting", { health: "starting" }, { phase: "starting", isAvailable: false, stillTakes: "nothing", share: 1 }],
    ["failed probes", { health: "not-ready" }, { phase: "not-ready", isAvailable: false, stillTakes: "nothing", share: 1 }],
    ["drained", { intent: "drain" }, { phase: "draining", isAvailable: false, stillTakes: "nothing", share: 1 }],
    ["drained, its sessions still there", { intent: "drain", isInGrace: true }, draining("sessions")],
    ["drained, its sessions still there, and ejected", { intent: "drain", isInGrace: true, ejection }, draining("nothing")],
    ["cordoned", { intent: "cordon" }, cordoned("unserved")],
    ["cordoned and ejected", { intent: "cordon", ejection }, cordoned("nothing")],
    ["cordoned and on trial", { intent: "cordon", ejection, isOnTrial: true }, cordoned("unserved")],
    ["cordoned and needed", { intent: "cordon", ejection, isNeeded: true }, cordoned("unserved")],
    ["ejected", { ejection }, { phase: "ejected", isAvailable: false, stillTakes: "nothing", share: 1 }],
    [
      "ejected and needed",
      { ejection, isNeeded: true },
      { phase: "ejected", isAvailable: true, stillTakes: "nothing", share: 1 },
    ],
    ["on trial", { ejection, isOnTrial: true }, { phase: "ejected", isAvailable: true, stillTakes: "nothing", share: 1 }],
    [
      "drained and ejected",
      { intent: "drain", ejection },
      { phase: "draining", isAvailable: false, stillTakes: "nothing", share: 1 },
    ],
    [
      "not healthy, drained and ejected",
      { health: "not-ready", intent: "drain", ejection },
      { phase: "not-ready", isAvailable: false, stillTakes: "nothing", share: 1 },
    ],
  ];
  for (const [name, standing, wanted] of rows) {
    it(name, () => assert.deepEqual(availability({ ...HEALTHY, ...standing }), wanted));
  }
});
