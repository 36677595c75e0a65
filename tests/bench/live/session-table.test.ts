import assert from "node:assert/strict";
import { it } from "node:test";
import type { SessionRun } from "./session-run.ts";
import { sessionLines } from "./session-table.ts";

const figures = (turnsPerHour: number, hitRatio: number) => ({ turnsPerHour, hitRatio, p50: 2, p99: 10 });
const RUN: SessionRun = {
  name: "gate",
  live: figures(110, 0.5),
  simulated: [figures(100, 0.4), figures(90, 0.35), figures(110, 0.45)],
  failures: [],
  incidents: [],
  routerCpu: 0.07,
  lateness: { sendP99Ms: 10, senderLoopP99Ms: 8, replicasLoopP99Ms: 9, longestStallMs: 40 },
};

it("a run has its figures, the simulator's, and one divided by the other", () => {
  const lines = sessionLines([RUN], 10);
  assert.match(lines[1]!, /^gate +sockets +110 +50\.0% +2\.00 +10\.00 +7%$/);
  assert.match(lines[2]!, /simulator +100 +40\.0% +2\.00 +10\.00/);
  assert.match(lines[3]!, /sockets \/ simulator +1\.10 +1\.25 +1\.00 +1\.00/);
  assert.match(lines[4]!, /the simulator's 3 runs +90 to 110 +35\.0% to 45\.0% +2\.00 to 2\.00/);
  assert.equal(lines.length, 7);
});

it("no hits in the simulator give no ratio; failures, lost replicas and a slow machine are named", () => {
  const lateness = { ...RUN.lateness, longestStallMs: 400 };
  const bad = { ...RUN, simulated: [figures(100, 0)], failures: ["reset", "reset"], incidents: ["a: silent"], lateness };
  const text = sessionLines([bad], 10).join("\n");
  assert.match(text, /1\.10 +- +1\.00/);
  assert.match(text, /2 turns failed: reset\.\ngate lost a replica: a: silent\./);
  assert.match(text, /stood still: 4\.00 s of the trace; take a smaller --speed/);
});
