import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../../apps/lab/engine/engine-times.ts";
import { Simulation } from "../../../../../apps/lab/simulate/simulation.ts";
import { loadSpec } from "../../../../apps/lab/simulate/load-spec.ts";
import { makeTrace, makeTraced } from "../../../../apps/lab/simulate/traces.ts";

/** Sessions of 30 turns of 20,000 tokens, each a little longer than the one before, with pauses of 2 s and a long one now and then. */
const TRACE = makeTrace(
  Array.from({ length: 6 }, (_, session) =>
    Array.from({ length: 30 }, (_, turn) => {
      const blocks = Array.from({ length: 200 + turn }, (_, block) => 1 + 1_000 * session + block);
      const atMs = 2_000 * turn + 60_000 * Math.floor((turn + session) / 10);
      return { ...makeTraced(atMs, blocks, 20), turn: { session: `s${session}`, tookMs: 0 } };
    }),
  )
    .flat()
    .sort((one, other) => one.atMs - other.atMs),
);

async function run(spec: string, perReplica: number, kvTokens = 110_000, speeds: readonly number[] = []) {
  const simulation = new Simulation(TRACE, await loadSpec(spec), {
    replicas: 2,
    model: { ...ENGINE_TIMES, kvTokens },
    speeds,
    timeScale: 1,
    seed: 1,
    tokenError: 0,
    faults: [],
    sessions: { perReplica, hours: 0.4, warmUpHours: 0.1 },
  });
  return simulation.run();
}

const GATE = "  sessions: { gate: true }\n";

describe("the gate in front of modelled replicas", () => {
  const cases: readonly [name: string, kvTokens: number, speeds: readonly number[]][] = [
    ["whose caches hold a third of the sessions", 110_000, []],
    ["of which one is half as fast", 110_000, [1, 0.5]],
    ["with caches of half that size", 60_000, []],
  ];
  for (const [name, kvTokens, speeds] of cases) {
    it(`has more turns end, with sooner first tokens, on replicas ${name}`, { timeout: 120_000 }, async () => {
      const [without, gated] = [await run("", 16, kvTokens, speeds), await run(GATE, 16, kvTokens, speeds)];
      assert.ok(gated.turnsPerHour! > 1.2 * without.turnsPerHour!, `${gated.turnsPerHour} ${without.turnsPerHour}`);
      assert.ok(gated.ttftSeconds.p50 < 0.5 * without.ttftSeconds.p50, `${gated.ttftSeconds.p50} ${without.ttftSeconds.p50}`);
      assert.equal(gated.completionRatio, 1);
    });
  }

  it("changes nothing where the caches have room", { timeout: 120_000 }, async () => {
    const [without, gated] = [await run("", 2), await run(GATE, 2)];
    assert.ok(Math.abs(gated.turnsPerHour! / without.turnsPerHour! - 1) < 0.01);
    assert.ok(gated.ttftSeconds.mean <= 1.01 * without.ttftSeconds.mean, `${gated.ttftSeconds.mean} ${without.ttftSeconds.mean}`);
  });

  it("holds nobody up for good where no prompt fits, or none comes back", { timeout: 120_000 }, async () => {
    const gated = await run(GATE, 4, 10_000);
    assert.equal(gated.unended!.turns, 0);
  });

  it("lets sessions that only the prompt tells apart wait as well", { timeout: 120_000 }, async () => {
    const spec = "  sessions: { gate: true, headers: [x-other] }\n";
    const [without, gated] = [await run("", 16), await run(spec, 16)];
    assert.ok(gated.turnsPerHour! > 1.2 * without.turnsPerHour!, `${gated.turnsPerHour} ${without.turnsPerHour}`);
  });
});
