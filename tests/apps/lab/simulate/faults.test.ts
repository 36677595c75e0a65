import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { conductAt, type Fault, type FaultKind, faultsOf, nextChangeMs, SOUND } from "../../../../apps/lab/simulate/faults.ts";
import type { Metrics } from "../../../../apps/lab/simulate/metrics.ts";
import { Simulation, type SimulationSettings } from "../../../../apps/lab/simulate/simulation.ts";
import type { Trace } from "../../../../apps/lab/simulate/trace.ts";
import { type LoadedConfig, loadTexts } from "../../../../config/load.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { makeTrace, makeTraced } from "./traces.ts";

/** Of the first replica. */
const fault = (kind: FaultKind, fromS = 0, untilS?: number): Fault => ({ replica: 0, fromS, untilS, ...kind });
const ERROR = { kind: "error" } as const;
const HANG = { kind: "hang" } as const;
const RESTART = { kind: "restart" } as const;

describe("how a replica behaves", () => {
  const at = (seconds: number, faults: readonly Fault[], timeScale = 1) =>
    conductAt(faultsOf(0, faults, timeScale), seconds * 1000);

  it("follows its own faults, from their beginning to before their end", () => {
    const faults = [fault(ERROR, 10, 20), { ...fault(HANG), replica: 1 }];
    assert.deepEqual(
      [9.999, 10, 19.999, 20].map((seconds) => at(seconds, faults).isFailing),
      [false, true, true, false],
    );
    assert.deepEqual(at(5, faults), SOUND);
  });

  it("follows several at once", () => {
    const faults = [
      fault({ kind: "slow", factor: 4 }),
      fault({ kind: "slow", factor: 2 }, 5),
      fault(HANG, 10, 11),
      fault(ERROR, 10),
    ];
    assert.deepEqual(
      [0, 5, 10, 11].map((seconds) => at(seconds, faults)),
      [
        { ...SOUND, pace: 0.25 },
        { ...SOUND, pace: 0.125 },
        { ...SOUND, isFailing: true, pace: 0 },
        { ...SOUND, isFailing: true, pace: 0.125 },
      ],
    );
  });

  it("flaps, beginning with errors", () => {
    const faults = faultsOf(0, [fault({ kind: "flap", seconds: 3 }, 1, 9)], 1);
    const changes = [];
    for (let ms = 0; ms < Number.POSITIVE_INFINITY; ms = nextChangeMs(faults, ms))
      changes.push([ms, conductAt(faults, ms).isFailing]);
    assert.deepEqual(changes, [
      [0, false],
      [1_000, true],
      [4_000, false],
      [7_000, true],
      [9_000, false],
    ]);
  });

  it("takes a minute to restart, or as long as is said", () => {
    assert.deepEqual(
      [9, 10, 69, 70].map((seconds) => at(seconds, [fault(RESTART, 10)]).isDown),
      [false, true, true, false],
    );
    assert.deepEqual(
      [10, 12].map((seconds) => at(seconds, [fault(RESTART, 10, 12)]).isDown),
      [true, false],
    );
  });

  it("changes when the trace's time says so, however fast that passes; what takes its own time keeps it", () => {
    assert.equal(at(5, [fault(ERROR, 10, 20)], 0.5).isFailing, true);
    assert.equal(at(10, [fault(ERROR, 10, 20)], 0.5).isFailing, false);
    assert.equal(at(64, [fault(RESTART, 10)], 0.5).isDown, true);
    assert.equal(at(5 + 3, [fault({ kind: "flap", seconds: 4 }, 10)], 0.5).isFailing, true);
  });
});

const SETTINGS: SimulationSettings = {
  replicas: 4,
  model: ENGINE_TIMES,
  speeds: [],
  timeScale: 1,
  seed: 1,
  tokenError: 0,
  faults: [],
};

/** Ten requests a second for a hundred seconds, each of its own. */
const TRACE = makeTrace(Array.from({ length: 1_000 }, (_, index) => makeTraced(100 * index, [1 + index], 20, 100)));

async function load(spec: string): Promise<LoadedConfig> {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec: { ${spec} }\n`;
  const loaded = await loadTexts([{ file: "test.yaml", text }], builtIns, ["http://127.0.0.1:8000"]);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

/** A policy that knows nothing, so that only ejection keeps requests off a replica. */
const BLIND = "plugins: [ { type: random } ]";
const UNWATCHED = `${BLIND}, ejection: false`;

async function run(
  spec: string,
  faults: readonly Fault[],
  settings: Partial<SimulationSettings> = {},
  trace = TRACE,
): Promise<Metrics> {
  return new Simulation(trace, await load(spec), { ...SETTINGS, ...settings, faults }).run();
}

function isBetween(value: number, least: number, most: number): void {
  assert.ok(value >= least && value <= most, `${value} is not between ${least} and ${most}`);
}

describe("a replica that", () => {
  /** What the random picker sends to one of four replicas. */
  const [LEAST_SENT, MOST_SENT] = [210, 290];

  it("fails is ejected after three failures in a row, then costs a request now and then", async () => {
    const [watched, unwatched] = [await run(BLIND, [fault(ERROR)]), await run(UNWATCHED, [fault(ERROR)])];
    isBetween(watched.failedRequests, 4, 7);
    assert.equal(watched.ejections[0], watched.failedRequests - 2);
    isBetween(unwatched.failedRequests, LEAST_SENT, MOST_SENT);
    assert.deepEqual(
      [watched.ejections.slice(1), unwatched.ejections],
      [
        [0, 0, 0],
        [0, 0, 0, 0],
      ],
    );
    assert.equal(watched.completionRatio, 1 - watched.failedRequests / 1_000);
  });

  it("hangs is ejected when its silence has lasted, and those that wait there are given up", async () => {
    const [watched, unwatched] = [
      await run(`${BLIND}, retries: { wedged: false }`, [fault(HANG)]),
      await run(UNWATCHED, [fault(HANG)]),
    ];
    isBetween(watched.failedRequests, 5, 40);
    isBetween(unwatched.failedRequests, LEAST_SENT, MOST_SENT);
    assert.equal(watched.ejections[0]! > 0, true);
  });

  it("hangs loses none but those on trial where requests that were cut go to another replica", async () => {
    const spec = `${BLIND}, retries: { budgetLeast: 1000 }`;
    const { failedRequests, retries, ejections } = await run(spec, [fault(HANG)]);
    isBetween(failedRequests, 0, ejections[0]! - 1);
    isBetween(retries, 5, 40);
  });

  it("is slow is ejected for its first tokens", async () => {
    const slow = [fault({ kind: "slow", factor: 40 })];
    const [watched, unwatched] = [await run(BLIND, slow), await run(UNWATCHED, slow)];
    assert.ok(watched.ejections[0]! > 0);
    assert.ok(watched.ttftSeconds.mean < unwatched.ttftSeconds.mean / 4, `${watched.ttftSeconds.mean}`);
    assert.equal(unwatched.failedRequests, 0);
  });

  it("fails on and off is ejected each time, and serves in between", async () => {
    const flap = [fault({ kind: "flap", seconds: 15 }, 5)];
    const [watched, unwatched] = [await run(BLIND, flap), await run(UNWATCHED, flap)];
    isBetween(watched.failedRequests, 4, 25);
    isBetween(unwatched.failedRequests, 0.4 * LEAST_SENT, 0.6 * MOST_SENT);
  });

  it("restarts loses what was under way; what comes meanwhile goes to the next in order", async () => {
    // About seven are under way on each replica.
    const trace = makeTrace(TRACE.requests.map((request) => ({ ...request, outputTokens: 400 })));
    const restart = (spec: string) => run(spec, [fault(RESTART, 30)], {}, trace);
    const [watched, unwatched] = [await restart(BLIND), await restart(UNWATCHED)];
    isBetween(watched.failedRequests, 2, 20);
    isBetween(unwatched.failedRequests, 2, 20);
    // So many broken responses at once are a reason to eject it; else the first that can't connect takes it out of service.
    assert.ok(watched.ejections[0]! > 0);
    assert.deepEqual([unwatched.retries, unwatched.ejections[0]], [1, 0]);
  });

  it("is well again gets its share back", async () => {
    const inSpans = await run(BLIND, [fault(ERROR, 10, 20)]);
    const { utilization } = await run(BLIND, []);
    isBetween(inSpans.failedRequests, 3, 4);
    isBetween(inSpans.utilization, 0.9 * utilization, utilization);
  });
});

describe("under the default policy, one of four replicas that", () => {
  /** Twenty requests a second, each of its own, for a hundred seconds: three replicas can serve them well. */
  const BUSY = makeTrace(Array.from({ length: 2_000 }, (_, index) => makeTraced(50 * index, [1 + index], 50, 600)));
  const rows: readonly (readonly [name: string, kind: FaultKind])[] = [
    ["fails", ERROR],
    ["hangs", HANG],
    ["is ten times as slow", { kind: "slow", factor: 10 }],
    ["fails on and off", { kind: "flap", seconds: 4 }],
    ["restarts", RESTART],
  ];
  for (const [name, kind] of rows) {
    it(`${name} costs one request in a hundred at most, and first tokens take as long as with three`, async () => {
      const healthy = await run("", [], { replicas: 3 }, BUSY);
      const { failedRequests, ttftSeconds } = await run("", [fault(kind, 10)], {}, BUSY);
      isBetween(failedRequests, 0, 20);
      isBetween(ttftSeconds.mean, 0, 1.3 * healthy.ttftSeconds.mean);
    });
  }
});

describe("a failure", () => {
  const ALONE = { replicas: 1 };
  const talk = (...times: readonly number[]): Trace =>
    makeTrace(times.map((seconds) => makeTraced(seconds * 1000, [1, 2, 3], 1_000)));

  it("restart: nothing is in the cache afterwards", async () => {
    const hits = async (...faults: readonly Fault[]) => (await run(BLIND, faults, ALONE, talk(0, 100))).hitRatio;
    assert.equal(await hits(fault(RESTART, 50, 60)), 0);
    isBetween(await hits(fault(ERROR, 50, 60)), 0.49, 0.5);
  });

  it("restart: requests are refused while the only replica is away, and served after it is back", async () => {
    const { failedRequests, ttftSeconds } = await run(BLIND, [fault(RESTART, 50, 60)], ALONE, talk(51, 55, 59, 66));
    assert.equal(failedRequests, 3);
    assert.ok(ttftSeconds.mean < 1);
  });

  it("hang: a stream waits as long as the limits let it, and goes on after that", async () => {
    const failed = async (untilS: number | undefined, spec = UNWATCHED) =>
      (await run(spec, [fault(HANG, 2, untilS)], ALONE, talk(0))).failedRequests;
    assert.equal(await failed(500), 0);
    assert.equal(await failed(undefined), 1);
    assert.equal(await failed(500, `${UNWATCHED}, limits: { streamIdleTimeoutMs: 60000 }`), 1);
    // Without a byte of a response, another limit counts.
    assert.equal((await run(UNWATCHED, [fault(HANG, 0, 500)], ALONE, talk(0))).failedRequests, 0);
    assert.equal(
      (await run(`${UNWATCHED}, limits: { responseTimeoutMs: 60000 }`, [fault(HANG, 0, 500)], ALONE, talk(0))).failedRequests,
      1,
    );
  });

  it("hang: an ejected replica's requests that wait for a response fail; its streams go on when it does", async () => {
    // Two on each replica; when the first one stops, one of its two is in the middle of its response.
    const trace = talk(0, 0, 3, 3);
    const failed = async (more: string) => {
      const spec = `plugins: [ { type: round-robin } ]${more}`;
      return (await run(spec, [fault(HANG, 2, 200)], { replicas: 2 }, trace)).failedRequests;
    };
    assert.deepEqual([await failed(""), await failed(", ejection: false")], [1, 0]);
  });

  it("comes the same way with the same seed", async () => {
    const faults = [fault({ kind: "flap", seconds: 7 }), fault(RESTART, 40), { ...fault(HANG, 20, 50), replica: 1 }];
    const metrics = await run(BLIND, faults);
    assert.deepEqual(await run(BLIND, faults), metrics);
    assert.notDeepEqual(await run(BLIND, faults, { seed: 2 }), metrics);
  });

  it("that never comes changes nothing", async () => {
    assert.deepEqual(await run(BLIND, [fault(ERROR, 1e6)]), await run(BLIND, []));
  });
});
