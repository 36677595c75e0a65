import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import { seededRandom } from "../../../support/endpoints.ts";
import { loadSpec } from "./load-spec.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const SETTINGS: SimulationSettings = {
  replicas: 4,
  model: { ...ENGINE_TIMES, kvTokens: 65_536 },
  speeds: [],
  timeScale: 1,
  seed: 1,
  tokenError: 0,
  faults: [],
};

/** Each adapter is asked for in proportion to 1 / its number; a request every `everyMs`, none like another. */
function traceOf(adapters: number, requests: number, everyMs: number) {
  const random = seededRandom(11);
  const weights = Array.from({ length: adapters }, (_, n) => 1 / (n + 1));
  const sum = weights.reduce((all, weight) => all + weight);
  return makeTrace(
    Array.from({ length: requests }, (_, n) => {
      let left = random() * sum;
      const adapter = weights.findIndex((weight) => {
        left -= weight;
        return left < 0;
      });
      return { ...makeTraced(n * everyMs, [n + 1, n + 100_000], 1 + Math.floor(random() * 60)), model: `adapter-${adapter}` };
    }),
  );
}

const adapters = { maxLoras: 3, maxCpuLoras: 0, adapterColdMs: 400, adapterWarmMs: 40 };

async function run(trace: ReturnType<typeof traceOf>, spec: string, more: Partial<SimulationSettings> = {}) {
  const {
    adapterLoads = Number.NaN,
    ttftSeconds,
    completionRatio,
  } = new Simulation(trace, await loadSpec(spec), {
    ...SETTINGS,
    adapters,
    ...more,
  }).run();
  assert.equal(completionRatio, 1);
  return { loads: adapterLoads, meanS: ttftSeconds.mean };
}

const RANDOM = "  plugins: [ { type: random } ]\n";

describe("adapters in a simulation", () => {
  it("are loaded once where all have room and requests come one by one", async () => {
    const { loads } = await run(traceOf(9, 300, 2_000), "");
    assert.equal(loads, 9);
  });

  it("are loaded far less often than by chance where they don't all have room", async () => {
    const trace = traceOf(20, 600, 500);
    const [ours, chance] = [await run(trace, ""), await run(trace, RANDOM)];
    assert.ok(ours.loads < chance.loads / 2, `${ours.loads} of ${chance.loads} loads`);
    assert.ok(ours.meanS < chance.meanS / 2, `${ours.meanS} of ${chance.meanS} s`);
  });

  it("are loaded by more replicas than one where many ask for one", async () => {
    const trace = traceOf(1, 400, 10);
    const { loads } = await run(trace, "");
    assert.ok(loads >= 2 && loads <= SETTINGS.replicas, `${loads} loads`);
  });

  it("cost less from the host's memory", async () => {
    const trace = traceOf(20, 400, 500);
    const kept = { adapters: { ...adapters, maxCpuLoras: 20 } };
    const [disk, memory] = [await run(trace, RANDOM), await run(trace, RANDOM, kept)];
    assert.ok(memory.loads <= 20 * SETTINGS.replicas && memory.loads < disk.loads && memory.meanS < disk.meanS);
  });
});
