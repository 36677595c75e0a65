import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import { loadTexts } from "../../../../config/load.ts";
import type { Ticket } from "../../../../core/ticket.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { loadSpec } from "./load-spec.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const SETTINGS: SimulationSettings = {
  replicas: 4,
  model: ENGINE_TIMES,
  speeds: [],
  timeScale: 1,
  seed: 1,
  tokenError: 0,
  faults: [],
  prefillers: 2,
};

/** Long prompts that share their first block, five a second, with answers of fifty tokens. */
const TRACE = makeTrace(
  Array.from({ length: 100 }, (_, index) =>
    makeTraced(200 * index, [1, ...Array.from({ length: 40 }, (__, at) => 2 + 100 * index + at)], 50),
  ),
);

const LABELLED = `apiVersion: signalbox/v1
kind: Router
spec:
  disaggregation: { decider: always }
  pool:
    endpoints:
      - { url: "http://a:1", labels: { llm-d.ai/role: decode } }
      - { url: "http://b:1", labels: { llm-d.ai/role: prefill } }
`;

async function run(spec: string, changes: Partial<SimulationSettings> = {}) {
  const tickets: Ticket[] = [];
  const settings = { ...SETTINGS, ...changes, ended: (ticket: Ticket) => void tickets.push(ticket) };
  const simulation = new Simulation(TRACE, await loadSpec(spec), settings);
  return { metrics: simulation.run(), tickets, replicas: simulation.replicas };
}

describe("a simulation of pairs", () => {
  it("computes prompts where it should, and tokens at the others, by the router's own feature", async () => {
    const { metrics, tickets, replicas } = await run("  disaggregation: { decider: always }\n");
    assert.deepEqual([metrics.pairs, metrics.completionRatio, metrics.retries], [{ made: 100, alone: 0, failed: 0 }, 1, 0]);
    const places = (read: (ticket: Ticket) => string | undefined) => [...new Set(tickets.map(read))].sort();
    assert.deepEqual(
      places(({ prefill }) => prefill?.endpoint),
      ["replica-1", "replica-2"],
    );
    assert.deepEqual(
      places(({ attempts }) => attempts[0]?.endpoint),
      ["replica-3", "replica-4"],
    );
    assert.ok(tickets.every(({ prefill }) => (prefill?.transferMs ?? 0) > ENGINE_TIMES.transferMs));
    // Nothing is left in use, and what came by a transfer is in the caches.
    assert.deepEqual(
      replicas.map(({ cache, size }) => [cache.usage, size]),
      replicas.map(() => [0, 0]),
    );
    const last = TRACE.requests.at(-1)!.prompt;
    assert.ok(replicas[2]!.cachedTokens(last) === last.tokens || replicas[3]!.cachedTokens(last) === last.tokens);
    // Decoders compute no prompts: no step is longer than one of tokens alone.
    assert.ok(metrics.interTokenSeconds.p99 < 0.02, String(metrics.interTokenSeconds.p99));
  });

  it("counts prompts that were cached where they were computed", async () => {
    const { metrics } = await run("  disaggregation: { decider: always }\n");
    assert.ok(metrics.hitRatio > 0.9 / 41 && metrics.hitRatio < 1 / 41, String(metrics.hitRatio));
  });

  it("is the same again with the same seed, and one replica does all where no pair is wanted", async () => {
    const paired = (await run("  disaggregation: {}\n")).metrics;
    assert.deepEqual((await run("  disaggregation: {}\n")).metrics, paired);
    const { metrics, replicas } = await run("  disaggregation: { decider: never }\n");
    assert.deepEqual(metrics.pairs, { made: 0, alone: 100, failed: 0 });
    assert.deepEqual([replicas[0]!.busyMs, replicas[1]!.busyMs], [0, 0]);
  });

  it("takes the roles from the config's labels in turn", async () => {
    const loaded = await loadTexts([{ file: "test.yaml", text: LABELLED }], builtIns);
    assert.ok(loaded.problems === undefined, JSON.stringify(loaded.problems));
    const tickets: Ticket[] = [];
    const { prefillers: _, ...settings } = SETTINGS;
    new Simulation(TRACE, loaded, { ...settings, ended: (ticket) => void tickets.push(ticket) }).run();
    assert.deepEqual([...new Set(tickets.map(({ prefill }) => prefill?.endpoint))].sort(), ["replica-2", "replica-4"]);
  });

  it("has less of them where transfers take long", async () => {
    const model = { ...ENGINE_TIMES, transferTokensPerS: 1_000 };
    const fast = (await run("  disaggregation: { decider: always }\n")).metrics;
    const slow = (await run("  disaggregation: { decider: always }\n", { model })).metrics;
    assert.ok(slow.ttftSeconds.mean > fast.ttftSeconds.mean + 2, `${slow.ttftSeconds.mean} and ${fast.ttftSeconds.mean}`);
    const weighed = (await run("  disaggregation: {}\n", { model, timeScale: 10 })).metrics;
    assert.ok(weighed.pairs!.made < 50 && weighed.completionRatio === 1, JSON.stringify(weighed.pairs));
  });

  it("serves every request, though a replica for prompts fails, is lost or stands still", async () => {
    for (const kind of ["error", "restart", "hang"] as const) {
      const faults = [{ replica: 0, kind, fromS: 5, untilS: 15 }];
      const { metrics, replicas } = await run("  disaggregation: { decider: always }\n", { faults });
      assert.equal(metrics.completionRatio, 1, kind);
      assert.deepEqual(replicas.map(({ cache }) => cache.usage).slice(2), [0, 0], kind);
    }
  });

  it("says how many requests a second have what they asked for", async () => {
    const targets = [{ ttftMs: 10_000, tpotMs: 1_000 }];
    const all = (await run("  disaggregation: {}\n", { targets })).metrics;
    // A hundred of them, of which the last came after 19.8 s.
    assert.deepEqual([all.inTargetShare, all.goodputPerS], [1, 100 / 19.8]);
    assert.equal("goodputPerS" in (await run("")).metrics, false);
    const none = (await run("  disaggregation: {}\n", { targets: [{ ttftMs: 1, tpotMs: 1 }] })).metrics;
    assert.deepEqual([none.inTargetShare, none.goodputPerS], [0, 0]);
  });
});
