import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { decideExactly } from "../../../../apps/lab/simulate/exact-state.ts";
import { CAUSES, type Cause, type Losses, meanLosses } from "../../../../apps/lab/simulate/losses.ts";
import { runAll } from "../../../../apps/lab/simulate/run.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import type { TraceRequest } from "../../../../apps/lab/simulate/trace.ts";
import type { LoadedConfig } from "../../../../config/load.ts";
import { seededRandom } from "../../../support/endpoints.ts";
import { loadSpec } from "./load-spec.ts";
import { makeTrace, makeTraced } from "./traces.ts";
import { type Wish, wishing } from "./wishes.ts";

const SETTINGS: SimulationSettings = {
  replicas: 2,
  model: ENGINE_TIMES,
  speeds: [],
  timeScale: 1,
  seed: 1,
  tokenError: 0,
  faults: [],
};

let reference: LoadedConfig;
before(async () => {
  reference = await loadSpec("");
});

function lossesOf(requests: readonly TraceRequest[], loaded: LoadedConfig, settings: Partial<SimulationSettings> = {}): Losses {
  const [run] = runAll([makeTrace(requests)], [{ name: "", loaded, reference }], { ...SETTINGS, ...settings }, 1, () => {});
  return run!.losses!;
}

interface Case {
  readonly name: string;
  readonly cause: Cause;
  /** The last one is looked at. */
  readonly requests: readonly TraceRequest[];
  /** By request. */
  readonly wishes: readonly Wish[];
  readonly scorers: string;
  readonly settings?: Partial<SimulationSettings>;
  readonly picked: string;
  readonly better: string;
  readonly lostMs: number;
}

const OURS = "{ type: outstanding-work }";

// A replica computes 8 tokens in a millisecond, 2,048 in a step, and each step takes a millisecond more.
const CASES: readonly Case[] = [
  {
    name: "a replica of half the speed, of which nothing has been measured: 1,000 tokens take 125 ms longer there",
    cause: "speed",
    requests: [makeTraced(0, [1], 1, 1_000)],
    wishes: [[0, false]],
    scorers: OURS,
    settings: { speeds: [0.5] },
    picked: "replica-1",
    better: "replica-2",
    lostMs: 125,
  },
  {
    name: "the same by a policy that does not ask for speed",
    cause: "policy",
    requests: [makeTraced(0, [1], 1, 1_000)],
    wishes: [[0, false]],
    scorers: "{ type: active-request }",
    settings: { speeds: [0.5] },
    picked: "replica-1",
    better: "replica-2",
    lostMs: 125,
  },
  {
    name: "60 cached tokens, too few for a block of the router's index",
    cause: "cache",
    requests: [makeTraced(0, [1], 1, 60), makeTraced(1_000, [1], 1, 60)],
    wishes: [
      [0, true],
      [1, false],
    ],
    scorers: OURS,
    picked: "replica-2",
    better: "replica-1",
    lostMs: 7.5,
  },
  {
    // Both replicas serve one request at a time. Two of the requests at the second and one at the first have to wait, the latter
    // with 800 tokens, which the router takes to be worked off after 100 ms. The first: 800 / 8 + 2 x 8. The second: 16 / 8 + 3 x 8.
    name: "800 tokens that wait for a place, taken to be worked off",
    cause: "queue",
    requests: [
      makeTraced(0, [1], 2_000, 8),
      makeTraced(0, [2], 2_000, 8),
      makeTraced(10, [3], 1, 800),
      makeTraced(10, [4], 1, 8),
      makeTraced(10, [5], 1, 8),
      makeTraced(2_000, [6], 1, 60),
    ],
    wishes: [
      [0, true],
      [1, true],
      [0, true],
      [1, true],
      [1, true],
      [1, false],
    ],
    scorers: OURS,
    settings: { model: { ...ENGINE_TIMES, maxRunning: 1 } },
    picked: "replica-1",
    better: "replica-2",
    lostMs: 116 - 26,
  },
  {
    // After 10 ms of the first step of 257 ms.
    name: "a prompt of 8,000 tokens of which the metrics, read before it came, know nothing",
    cause: "metrics",
    requests: [makeTraced(0, [1], 1, 8_000), makeTraced(10, [2], 1, 60)],
    wishes: [
      [0, true],
      [0, false],
    ],
    scorers: "{ type: running }",
    picked: "replica-1",
    better: "replica-2",
    lostMs: (8_000 - (2_048 * 10) / 257) / 8 + 8,
  },
];

describe("what a worse pick loses", () => {
  for (const { name, cause, requests, wishes, scorers, settings, picked, better, lostMs } of CASES) {
    it(`${cause}: ${name}`, async () => {
      const losses = lossesOf(requests, await wishing(wishes, scorers), settings);
      const loss = losses.worst.find(({ line }) => line === requests.length);
      assert.deepEqual([loss?.picked, loss?.better, loss?.atMs], [picked, better, requests.at(-1)?.atMs]);
      assertNear(loss!.lostMs, lostMs);
      for (const other of CAUSES) assertNear(loss!.byCause[other], other === cause ? lostMs : 0);
    });

    it(`the exact state leads to the better one: ${name}`, async () => {
      const picks: string[] = [];
      // The last request of the reference; those before it go where they are wished.
      const loaded = await wishing(wishes, scorers);
      const exact = new Simulation(makeTrace(requests), loaded, { ...SETTINGS, ...settings }, (engines) => (question) => {
        const decision = decideExactly(engines)(question);
        picks.push(decision.legs[0]!.order[0]!.name);
        return decision;
      });
      exact.run();
      assert.equal(picks.at(-1), cause === "policy" ? picked : better);
    });
  }

  it("is nothing where all picks are the best ones", async () => {
    const losses = lossesOf([makeTraced(0, [1], 1, 1_000), makeTraced(10_000, [2], 1, 1_000)], reference);
    assert.deepEqual([losses.decisions, losses.worsePicks, losses.lostMs, losses.worst], [2, 0, 0, []]);
  });

  it("is bounded where the replica stands still", async () => {
    const loaded = await wishing([[0, true]], OURS);
    const faults = [{ replica: 0, kind: "hang", fromS: 0, untilS: undefined }] as const;
    const losses = lossesOf([makeTraced(0, [1], 1, 100)], loaded, { faults });
    assert.equal(losses.lostMs, 60_000);
  });

  it("has parts that add up, whatever is wrong at once", async () => {
    const random = seededRandom(3);
    const requests = Array.from({ length: 150 }, (_, index) => {
      const talk = Math.floor(random() * 12);
      const blocks = Array.from({ length: 2 + Math.floor(random() * 20) }, (_, block) => 1 + 1_000 * talk + block);
      return makeTraced(index * 60, blocks, 1 + Math.floor(random() * 100));
    });
    const loaded = await loadSpec("  plugins: [ { type: outstanding-work }, { type: queue }, { type: prefix-cache } ]\n");
    const faults = [{ replica: 2, kind: "restart", fromS: 3, untilS: 4 }] as const;
    const settings = { replicas: 4, model: { ...ENGINE_TIMES, kvTokens: 16_384 }, speeds: [0.3], tokenError: 0.5, faults };
    const losses = lossesOf(requests, loaded, settings);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    for (const { lostMs, byCause } of losses.worst) assertNear(sum(Object.values(byCause)), lostMs);
    assertNear(sum(Object.values(losses.byCause).map(({ lostMs }) => lostMs)), losses.lostMs);
    assert.equal(sum(Object.values(losses.byCause).map(({ picks }) => picks)), losses.worsePicks);
    assert.ok(CAUSES.filter((cause) => losses.byCause[cause].picks > 0).length >= 4);
    assert.deepEqual(
      losses.worst.map(({ lostMs }) => lostMs),
      losses.worst.map(({ lostMs }) => lostMs).sort((a, b) => b - a),
    );
    assert.equal(losses.worst.length, 10);
    assert.deepEqual(lossesOf(requests, loaded, settings), losses, "The same again");
  });

  it("leaves the picks of the router what they are", async () => {
    const requests = Array.from({ length: 60 }, (_, index) => makeTraced(index * 50, [1 + (index % 7), 100 + index]));
    for (const spec of ["", "  plugins: [ { type: active-request }, { type: power-of-two } ]\n"]) {
      const loaded = await loadSpec(spec);
      const run = (config: object) => runAll([makeTrace(requests)], [{ name: "", loaded, ...config }], SETTINGS, 1, () => {})[0]!;
      const { losses, ...explained } = run({ reference });
      assert.ok(losses!.decisions === 60);
      assert.deepEqual(explained, run({}));
    }
  });
});

describe("the mean of several runs' losses", () => {
  it("has the means of all numbers, and the worst picks of all", () => {
    const zero = { lostMs: 0, picks: 0 };
    const none = { length: zero, cache: zero, queue: zero, metrics: zero, speed: zero, policy: zero };
    const loss = (line: number, lostMs: number) => {
      const byCause = { length: 0, cache: lostMs, queue: 0, metrics: 0, speed: 0, policy: 0 };
      return { line, atMs: 0, picked: "a", better: "b", lostMs, byCause };
    };
    const one = { ...none, cache: { lostMs: 30, picks: 2 } };
    const other = { ...none, cache: { lostMs: 10, picks: 1 }, speed: { lostMs: 5, picks: 1 } };
    const mean = meanLosses([
      { decisions: 4, worsePicks: 2, lostMs: 30, byCause: one, worst: [loss(1, 20), loss(2, 10)] },
      { decisions: 4, worsePicks: 2, lostMs: 15, byCause: other, worst: [loss(3, 15)] },
    ]);
    assert.deepEqual(mean, {
      decisions: 4,
      worsePicks: 2,
      lostMs: 22.5,
      byCause: { ...none, cache: { lostMs: 20, picks: 1.5 }, speed: { lostMs: 2.5, picks: 0.5 } },
      worst: [loss(1, 20), loss(3, 15), loss(2, 10)],
    });
  });
});

/** The room in a cache, which decides ties, counts for up to two tokens. */
function assertNear(actual: number, wanted: number): void {
  assert.ok(Math.abs(actual - wanted) < 1e-3, `${actual} is not ${wanted}`);
}
