import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { availability, type Standing } from "../../../core/control/availability.ts";

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

describe("whether an endpoint may be used", () => {
  type Row = readonly [
    name: string,
    standing: Partial<Standing>,
    phase: Endpoint["phase"],
    takes: "all" | Endpoint["stillTakes"],
  ];
  const rows: readonly Row[] = [
    ["healthy", {}, "ready", "all"],
    ["warming up", { warmUp: 0.25 }, "ready", "all"],
    ["starting", { health: "starting" }, "starting", "nothing"],
    ["failed probes", { health: "not-ready" }, "not-ready", "nothing"],
    ["said to be ready", { reported: "ready" }, "ready", "all"],
    ["said not to be ready", { reported: "not-ready" }, "not-ready", "nothing"],
    ["said to be ready, and failed probes", { reported: "ready", health: "not-ready" }, "not-ready", "nothing"],
    ["said not to be ready, and starting", { reported: "not-ready", health: "starting" }, "starting", "nothing"],
    ["said not to be ready, and cordoned", { reported: "not-ready", intent: "cordon" }, "not-ready", "nothing"],
    ["said to leave", { reported: "leaving" }, "draining", "nothing"],
    ["said to leave, and failed probes", { reported: "leaving", health: "not-ready" }, "draining", "nothing"],
    [
      "said to leave, drained, its sessions still there",
      { reported: "leaving", intent: "drain", isInGrace: true },
      "draining",
      "nothing",
    ],
    ["said to leave, ejected and needed", { reported: "leaving", ejection, isNeeded: true }, "draining", "nothing"],
    ["drained", { intent: "drain" }, "draining", "nothing"],
    ["drained, its sessions still there", { intent: "drain", isInGrace: true }, "draining", "sessions"],
    ["drained, its sessions still there, and ejected", { intent: "drain", isInGrace: true, ejection }, "draining", "nothing"],
    ["cordoned", { intent: "cordon" }, "cordoned", "unserved"],
    ["cordoned and ejected", { intent: "cordon", ejection }, "cordoned", "nothing"],
    ["cordoned and on trial", { intent: "cordon", ejection, isOnTrial: true }, "cordoned", "unserved"],
    ["cordoned and needed", { intent: "cordon", ejection, isNeeded: true }, "cordoned", "unserved"],
    ["ejected", { ejection }, "ejected", "nothing"],
    ["ejected and needed", { ejection, isNeeded: true }, "ejected", "all"],
    ["on trial", { ejection, isOnTrial: true }, "ejected", "all"],
    ["drained and ejected", { intent: "drain", ejection }, "draining", "nothing"],
    ["not healthy, drained and ejected", { health: "not-ready", intent: "drain", ejection }, "not-ready", "nothing"],
  ];
  for (const [name, changes, phase, takes] of rows) {
    it(name, () => {
      const { warmUp, intent, isOnTrial, ejection: out, ...standing } = { ...HEALTHY, ...changes };
      assert.deepEqual(availability({ ...standing, warmUp, intent, isOnTrial, ejection: out }), {
        phase,
        isAvailable: takes === "all",
        stillTakes: takes === "all" ? "nothing" : takes,
        share: warmUp,
        intent,
        ejection: out,
        isOnTrial,
      });
    });
  }
});
