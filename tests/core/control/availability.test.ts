import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Availability, availability, type Standing } from "../../../core/control/availability.ts";

const HEALTHY: Standing = { health: "ready", intent: "serve", ejection: undefined, isOnTrial: false, isNeeded: false, warmUp: 1 };
const ejection = { reason: "5 resets in a row", sinceMs: 0, untilMs: 30_000 };

describe("whether an endpoint may be used", () => {
  const rows: readonly (readonly [name: string, standing: Partial<Standing>, wanted: Availability])[] = [
    ["healthy", {}, { phase: "ready", isAvailable: true, share: 1 }],
    ["warming up", { warmUp: 0.25 }, { phase: "ready", isAvailable: true, share: 0.25 }],
    ["starting", { health: "starting" }, { phase: "starting", isAvailable: false, share: 1 }],
    ["failed probes", { health: "not-ready" }, { phase: "not-ready", isAvailable: false, share: 1 }],
    ["drained", { intent: "drain" }, { phase: "draining", isAvailable: false, share: 1 }],
    ["cordoned", { intent: "cordon" }, { phase: "draining", isAvailable: false, share: 1 }],
    ["ejected", { ejection }, { phase: "ejected", isAvailable: false, share: 1 }],
    ["ejected and needed", { ejection, isNeeded: true }, { phase: "ejected", isAvailable: true, share: 1 }],
    ["on trial", { ejection, isOnTrial: true }, { phase: "ejected", isAvailable: true, share: 1 }],
    ["drained and ejected", { intent: "drain", ejection }, { phase: "draining", isAvailable: false, share: 1 }],
    [
      "not healthy, drained and ejected",
      { health: "not-ready", intent: "drain", ejection },
      { phase: "not-ready", isAvailable: false, share: 1 },
    ],
  ];
  for (const [name, standing, wanted] of rows) {
    it(name, () => assert.deepEqual(availability({ ...HEALTHY, ...standing }), wanted));
  }
});
