import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import type { Trace } from "../../../../apps/lab/simulate/trace.ts";
import { SessionCopies, sessionsOf } from "../../../../apps/lab/simulate/trace-session.ts";
import { loadSpec } from "./load-spec.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const SETTINGS: SimulationSettings = {
  replicas: 2,
  model: { ...ENGINE_TIMES, kvTokens: 65_536 },
  speeds: [],
  timeScale: 1,
  seed: 1,
  tokenError: 0,
  faults: [],
};

const traced = (session: string, atMs: number, tookMs: number, blocks: readonly number[], outputTokens = 10) => ({
  ...makeTraced(atMs, blocks, outputTokens),
  turn: { session, tookMs },
});

/** Runs it, and returns for each request that ended: its line, when it came and when it ended. */
async function timesOf(trace: Trace, settings: Partial<SimulationSettings> = {}) {
  const ended: { line: number; cameMs: number; endedMs: number; session: string }[] = [];
  const simulation = new Simulation(trace, await loadSpec(""), {
    ...SETTINGS,
    ...settings,
    ended: ({ times }, { line, headers }) =>
      ended.push({ line, cameMs: times.headAtMs, endedMs: times.endedAtMs, session: headers?.["x-session-id"] ?? "" }),
  });
  return { metrics: simulation.run(), ended };
}

describe("the sessions of a trace", () => {
  it("have each turn follow the one that ended last before it came", () => {
    const trace = makeTrace([
      traced("a", 0, 100, [1]),
      traced("b", 50, 0, [9]),
      // Two at once: sub-agents. The second one ends first, and the last turn comes before the first one ends.
      traced("a", 300, 500, [1, 2]),
      traced("a", 320, 100, [1, 3]),
      traced("a", 600, 10, [1, 3, 4]),
    ]);
    const [a, b] = sessionsOf(trace);
    assert.deepEqual([a!.name, a!.startMs, b!.name, b!.startMs], ["a", 0, "b", 50]);
    assert.deepEqual(a!.followers, [[0], [1, 2], [], [3], []]);
    assert.deepEqual(
      a!.turns.map(({ thinkMs, knownTokens }) => [thinkMs, knownTokens]),
      [
        [0, 0],
        [200, 100],
        [220, 100],
        [180, 200],
      ],
    );
  });

  it("have blocks of their own when they run again, but for those that sessions share", () => {
    const sessions = sessionsOf(makeTrace([traced("a", 0, 0, [1, 2]), traced("b", 0, 0, [1, 3]), traced("a", 9, 0, [1, 2, 4])]));
    const copies = new SessionCopies(sessions);
    const renamed = copies.renaming(100);
    const [first, second] = sessions[0]!.turns.map(({ request }) => renamed(request.prompt));
    assert.deepEqual([...first!.blocks], [1, 5]);
    assert.deepEqual([...second!.blocks, second!.tokens], [1, 5, 6, 300]);
    assert.deepEqual([...copies.renaming(100)(first!).blocks], [1, 7]);
    assert.throws(() => copies.renaming(8)(sessions[1]!.turns[0]!.request.prompt), /too often .* fewer --hours/);
  });
});

describe("a closed loop", () => {
  const session = (name: string, first: number) => [0, 1, 2].map((at) => traced(name, 1_000 * at, 0, [first, first + 1 + at]));
  const TRACE = makeTrace([...session("a", 10), ...session("b", 20)]);

  it("has a turn come when its client has thought after the end of the one before", async () => {
    const { ended, metrics } = await timesOf(makeTrace([...session("a", 10), makeTraced(70, [99], 5)]));
    const [lone, ...turns] = ended.sort((one, other) => other.line - one.line);
    assert.deepEqual([lone!.cameMs, metrics.completionRatio, metrics.unended?.turns], [70, 1, 0]);
    const [third, second, first] = turns;
    assert.ok(first!.endedMs > 50);
    assert.ok(Math.abs(second!.cameMs - first!.endedMs - 1_000) < 1e-6);
    assert.ok(Math.abs(third!.cameMs - second!.endedMs - 1_000) < 1e-6);
  });

  it("gets fewer turns from slower replicas, not a longer queue", async () => {
    const loop = { perReplica: 4, hours: 0.1, warmUpHours: 0.02 };
    const fast = await timesOf(TRACE, { sessions: loop });
    const slow = await timesOf(TRACE, { sessions: loop, speeds: [0.02, 0.02] });
    assert.ok(slow.metrics.turnsPerHour! < 0.8 * fast.metrics.turnsPerHour!);
    for (const { metrics } of [fast, slow]) assert.ok(metrics.unended!.turns <= 8 && metrics.completionRatio === 1);
    assert.ok(slow.metrics.sessionSlowdown!.p50 > 1.2 && fast.metrics.sessionSlowdown!.p50 < 1.1);
  });

  it("keeps as many sessions under way as asked for, each run under a name of its own, and stops in time", async () => {
    const { ended, metrics } = await timesOf(TRACE, { sessions: { perReplica: 2, hours: 0.05, warmUpHours: 0.01 } });
    const names = new Set(ended.map((request) => request.session));
    assert.ok(names.has("a") && names.has("b") && names.has("a.2"));
    assert.ok(ended.every(({ endedMs }) => endedMs <= 180_000));
    const counted = ended.filter(({ endedMs }) => endedMs >= 36_000).length;
    assert.equal(Math.round(metrics.turnsPerHour! * 0.04), counted);
    assert.ok(metrics.fairness! > 0.95 && metrics.fairness! <= 1 + 1e-9);
  });

  it("is the same again with the same seed", async () => {
    const loop = { perReplica: 3, hours: 0.05, warmUpHours: 0 };
    const [one, other] = [await timesOf(TRACE, { sessions: loop, seed: 5 }), await timesOf(TRACE, { sessions: loop, seed: 5 })];
    assert.deepEqual(one, other);
  });

  it("ends where every turn is refused", async () => {
    const { ended, metrics } = await timesOf(TRACE, {
      model: { ...ENGINE_TIMES, kvTokens: 64 },
      sessions: { perReplica: 1, hours: 0.02, warmUpHours: 0 },
    });
    assert.ok(ended.length > 10 && metrics.completionRatio === 0);
    assert.equal(metrics.failedRequests, ended.length);
  });

  it("has its think times multiplied by the time scale", async () => {
    const [first, second] = (await timesOf(makeTrace(session("a", 10)), { timeScale: 0.5 })).ended;
    assert.ok(Math.abs(second!.cameMs - first!.endedMs - 500) < 1e-6);
  });
});
