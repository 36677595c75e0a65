import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { ReplicaLog } from "../../../core/control/replica-log.ts";
import type { OperatorIntent } from "../../../core/pool/operator-intents.ts";
import { collectedLog } from "../../support/collected-log.ts";
import { makeEndpoint } from "../../support/endpoints.ts";

const DRAIN: OperatorIntent = {
  intent: "drain",
  reason: "new driver",
  by: "192.0.2.7",
  sinceMs: 0,
  untilMs: undefined,
  graceUntilMs: 0,
};
const EJECTION = { reason: "3 resets in a row", sinceMs: 0, untilMs: 40_000 };

/** A log of a pool; it began 10 seconds ago. */
function setUp() {
  const log = collectedLog();
  const intents = new Map<string, OperatorIntent>();
  const failures = new Map<string, string>();
  const replicaLog = new ReplicaLog({
    log,
    intentOf: (name) => intents.get(name),
    probeFailure: ({ name }) => failures.get(name) ?? "",
  });
  const at = (nowMs: number, endpoints: readonly Endpoint[], cause = "") => replicaLog.follow(endpoints, nowMs, cause);
  return { log, intents, failures, at, replicaLog };
}

describe("one line for each change", () => {
  const ready = makeEndpoint(0);
  const notReady = makeEndpoint(0, { phase: "not-ready", isAvailable: false });
  const ejected = makeEndpoint(0, { phase: "ejected", isAvailable: false, ejection: EJECTION });
  const draining = makeEndpoint(0, { phase: "draining", isAvailable: false, intent: "drain" });
  type Change = (world: ReturnType<typeof setUp>) => void;
  const none: Change = () => {};
  const cases: readonly (readonly [
    name: string,
    from: Endpoint,
    before: Change,
    to: Endpoint,
    change: Change,
    line: string | undefined,
    cause?: string,
  ])[] = [
    [
      "a probe fails",
      ready,
      none,
      notReady,
      ({ failures }) => failures.set("e0", "refused"),
      'warning: A replica is not ready any more {"endpoint":"e0","from":"ready","to":"not-ready","why":"refused","lastedS":10}',
    ],
    [
      "a start that takes too long",
      makeEndpoint(0, { phase: "starting", isAvailable: false }),
      none,
      notReady,
      ({ failures }) => failures.set("e0", "status 503"),
      'warning: A replica is not ready in time {"endpoint":"e0","from":"starting","to":"not-ready","why":"status 503","lastedS":10}',
    ],
    [
      "its discovery says that it is not ready",
      ready,
      none,
      makeEndpoint(0, { phase: "not-ready", isAvailable: false, reported: "not-ready" }),
      none,
      'warning: A replica is not ready any more {"endpoint":"e0","from":"ready","to":"not-ready","why":"its discovery says so","lastedS":10}',
    ],
    [
      "it is being taken away",
      ready,
      none,
      makeEndpoint(0, { phase: "draining", isAvailable: false, reported: "leaving" }),
      ({ failures }) => failures.set("e0", "refused"),
      'info: A replica is draining {"endpoint":"e0","from":"ready","to":"draining","why":"it is being taken away","lastedS":10}',
    ],
    [
      "probes succeed",
      notReady,
      none,
      ready,
      none,
      'info: A replica is ready {"endpoint":"e0","from":"not-ready","to":"ready","why":"its probes succeed","lastedS":10,"models":"base"}',
    ],
    [
      "an ejection",
      ready,
      none,
      ejected,
      none,
      'warning: A replica is ejected {"endpoint":"e0","from":"ready","to":"ejected","why":"3 resets in a row","lastedS":10,"forS":30}',
    ],
    [
      "an ejection of what is drained",
      draining,
      ({ intents }) => intents.set("e0", DRAIN),
      { ...draining, ejection: EJECTION },
      none,
      'warning: A replica is ejected {"endpoint":"e0","from":"draining","to":"draining","why":"3 resets in a row","lastedS":10,"forS":30}',
    ],
    [
      "a failed trial",
      ejected,
      none,
      { ...ejected, ejection: { ...EJECTION, untilMs: 70_000 } },
      none,
      'warning: A replica stays ejected {"endpoint":"e0","from":"ejected","to":"ejected","why":"failed on trial: 3 resets in a row","lastedS":10,"forS":60}',
    ],
    [
      "a return",
      ejected,
      none,
      ready,
      none,
      'info: A replica returns from its ejection {"endpoint":"e0","from":"ejected","to":"ready","why":"was ejected for 3 resets in a row","lastedS":10}',
    ],
    ["a trial, which is no change", ejected, none, { ...ejected, isOnTrial: true, isAvailable: true }, none, undefined],
    ["a warm-up, which is no change", ready, none, { ...ready, share: 0.5 }, none, undefined],
    ["other labels, which are no change", ready, none, { ...ready, labels: { gpu: "h100" } }, none, undefined],
    [
      "a drain",
      ready,
      none,
      draining,
      ({ intents }) => intents.set("e0", { ...DRAIN, untilMs: 60_000 }),
      'info: A replica is drained {"endpoint":"e0","from":"ready","to":"draining","why":"new driver","lastedS":10,"by":"192.0.2.7","forS":60}',
    ],
    [
      "a drain of what is not ready",
      notReady,
      none,
      { ...notReady, intent: "drain" },
      ({ intents }) => intents.set("e0", { ...DRAIN, reason: "" }),
      'info: A replica is drained {"endpoint":"e0","from":"not-ready","to":"not-ready","why":"an operator asked for it","lastedS":10,"by":"192.0.2.7"}',
    ],
    [
      "an undrain",
      draining,
      ({ intents }) => intents.set("e0", DRAIN),
      ready,
      ({ intents }) => intents.clear(),
      'info: A replica serves again {"endpoint":"e0","from":"draining","to":"ready","why":"192.0.2.7 asked for it","lastedS":10}',
      "192.0.2.7 asked for it",
    ],
    [
      "the end of a drain's grace, which is no change",
      { ...draining, stillTakes: "sessions" },
      ({ intents }) => intents.set("e0", DRAIN),
      draining,
      none,
      undefined,
    ],
  ];
  for (const [name, from, before, to, change, line, cause] of cases) {
    it(name, () => {
      const world = setUp();
      // The other one is never ready, so that the pool is not complete.
      const other = makeEndpoint(1, { phase: "not-ready", isAvailable: false });
      before(world);
      world.at(0, [from, other]);
      change(world);
      world.at(10_000, [to, other], cause);
      world.at(11_000, [to, other]);
      assert.deepEqual(world.log.lines, line === undefined ? [] : [line]);
    });
  }
});

describe("replicas that come and go", () => {
  it("have a line each", () => {
    const { log, at } = setUp();
    const gone = makeEndpoint(0, { phase: "not-ready", isAvailable: false });
    const joins = makeEndpoint(2, { phase: "starting", isAvailable: false });
    at(0, [gone, makeEndpoint(1)]);
    at(10_000, [makeEndpoint(1), joins]);
    assert.deepEqual(log.lines, [
      'info: A replica leaves the pool {"endpoint":"e0","from":"not-ready","lastedS":10}',
      'info: A replica joins the pool {"endpoint":"e2","to":"starting"}',
    ]);
  });
});

describe("that all are ready", () => {
  const starting = makeEndpoint(0, { phase: "starting", isAvailable: false });
  const notReady = makeEndpoint(0, { phase: "not-ready", isAvailable: false });
  const isTold = (lines: readonly string[]) => lines.filter((line) => line.includes("All replicas"));
  const TOLD = 'info: All replicas of the pool are ready {"replicas":1}';

  it("is said once, however often one of them flaps", () => {
    const { log, at } = setUp();
    at(0, [starting]);
    for (let nowMs = 5_000; nowMs < 100_000; nowMs += 1_000) at(nowMs, [nowMs % 2_000 === 0 ? notReady : makeEndpoint(0)]);
    assert.deepEqual(isTold(log.lines), [TOLD]);
    assert.equal(log.lines.length, 95 + 1, "one for each change, and that one");
  });

  it("is in the first line of the program when it is so within two seconds", () => {
    const { log, at } = setUp();
    at(0, [starting]);
    at(1_000, [makeEndpoint(0)]);
    assert.deepEqual(log.lines, []);
  });

  it("is said again after one has joined", () => {
    const { log, at } = setUp();
    at(0, [makeEndpoint(0)]);
    const joins = makeEndpoint(1, { phase: "starting", isAvailable: false });
    at(10_000, [makeEndpoint(0), joins]);
    at(20_000, [makeEndpoint(0), makeEndpoint(1)]);
    assert.deepEqual(isTold(log.lines), ['info: All replicas of the pool are ready {"replicas":2}']);
  });
});

it("knows since when a replica has been in its phase, until it leaves the list", () => {
  const { at, replicaLog } = setUp();
  const since = () => [0, 1].map((slot) => replicaLog.phaseSinceMs(`e${slot}`));
  at(100, [makeEndpoint(0)]);
  at(200, [makeEndpoint(0, { share: 0.5 }), makeEndpoint(1, { phase: "starting" })]);
  assert.deepEqual(since(), [100, 200]);
  at(300, [makeEndpoint(0, { phase: "ejected" })]);
  assert.deepEqual(since(), [300, Number.NaN]);
});
