import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Phase } from "../../../../core/contract/endpoint.ts";
import {
  isLoading,
  NEW_REPLICA,
  type ProbeEvent,
  type ProbeFailure,
  type ReplicaHealth,
  reduce,
} from "../../../../core/control/readiness/replica-health.ts";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";

const startup = (failure?: ProbeFailure): ProbeEvent => ({ type: "startup", failure });
const readiness = (failure?: ProbeFailure): ProbeEvent => ({ type: "readiness", failure });
const liveness = (failure?: ProbeFailure): ProbeEvent => ({ type: "liveness", failure });
const models = (...names: string[]): ProbeEvent => ({ type: "models", models: names });
const OVERDUE: ProbeEvent = { type: "startup-overdue" };
const CONNECT_FAILED: ProbeEvent = { type: "connect-failed" };

const times = (count: number, event: ProbeEvent) => Array.from({ length: count }, () => event);
const after = (events: readonly ProbeEvent[], from = NEW_REPLICA) =>
  events.reduce((health, event) => reduce(health, event, PROBE_DEFAULTS), from);

const IN_SERVICE = [startup(), models("base"), readiness()];
const READINESS_LOST = [...IN_SERVICE, ...times(3, readiness("timeout"))];
const LIVENESS_LOST = [...IN_SERVICE, ...times(3, liveness("timeout"))];

interface Row {
  readonly name: string;
  readonly given?: readonly ProbeEvent[];
  readonly when: readonly ProbeEvent[];
  readonly phase: Phase;
  readonly and?: Partial<ReplicaHealth>;
}

function check(rows: readonly Row[]): void {
  for (const { name, given = [], when, phase, and = {} } of rows) {
    test(name, () => {
      const health = after(when, after(given));
      assert.equal(health.phase, phase);
      for (const key of Object.keys(and) as (keyof ReplicaHealth)[]) assert.deepEqual(health[key], and[key], key);
    });
  }
}

// tests/core/control/readiness/prober.runtimes.test.ts takes replicas through the whole lifecycle.
describe("what takes a replica out", () => {
  check([
    {
      name: "Startup complete: liveness lost",
      given: [startup()],
      when: times(3, liveness("refused")),
      phase: "not-ready",
      and: { isAlive: false, livenessLosses: 1 },
    },
    {
      name: "Not Ready: liveness lost is counted too",
      given: READINESS_LOST,
      when: times(3, liveness("timeout")),
      phase: "not-ready",
      and: { livenessLosses: 1 },
    },
  ]);
});

describe("an event that has no place in the lifecycle changes nothing", () => {
  const refusals: readonly (readonly [string, readonly ProbeEvent[], ProbeEvent])[] = [
    ["readiness before startup: success", [], readiness()],
    ["readiness before startup: failure", [], readiness("timeout")],
    ["startup after startup: success", IN_SERVICE, startup()],
    ["startup after startup: failure", IN_SERVICE, startup("timeout")],
    ["overdue after startup", [startup()], OVERDUE],
    ["connect-failed while starting", [startup("refused")], CONNECT_FAILED],
    ["connect-failed while not ready", READINESS_LOST, CONNECT_FAILED],
    ["the same failure again while starting", [startup("refused")], startup("refused")],
    ["success while ready", IN_SERVICE, readiness()],
    ["liveness while ready", IN_SERVICE, liveness()],
    ["the same models", IN_SERVICE, models("base")],
    ["failures beyond the threshold", READINESS_LOST, readiness("timeout")],
    ["liveness failures beyond the threshold", LIVENESS_LOST, liveness("timeout")],
  ];
  for (const [name, given, event] of refusals) {
    test(name, () => {
      const health = after(given);
      assert.equal(reduce(health, event, PROBE_DEFAULTS), health, "the same object: no change to report");
    });
  }
});

describe("failures in a row", () => {
  check([
    {
      name: "a success between failures starts the count again",
      given: IN_SERVICE,
      when: [...times(2, readiness("timeout")), readiness(), ...times(2, readiness("timeout"))],
      phase: "ready",
      and: { readinessFailures: 2 },
    },
    {
      name: "flapping under the threshold never takes it out",
      given: IN_SERVICE,
      when: Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? readiness("status 503") : readiness())),
      phase: "ready",
    },
    {
      name: "liveness and readiness are counted separately",
      given: IN_SERVICE,
      when: [...times(2, readiness("timeout")), ...times(2, liveness("timeout"))],
      phase: "ready",
    },
    {
      name: "liveness lost twice is counted twice",
      given: LIVENESS_LOST,
      when: [liveness(), ...times(3, liveness("timeout"))],
      phase: "not-ready",
      and: { livenessLosses: 2 },
    },
    {
      name: "a replica without a liveness path still responds",
      given: IN_SERVICE,
      when: times(9, liveness("status 404")),
      phase: "ready",
    },
    {
      name: "never ready: readiness failures end the startup",
      given: [startup()],
      when: times(3, readiness("status 500")),
      phase: "not-ready",
    },
  ]);
});

describe("coming back", () => {
  check([
    {
      name: "both lost: both are needed",
      given: [...READINESS_LOST, ...times(3, liveness("timeout"))],
      when: [liveness()],
      phase: "not-ready",
    },
    {
      name: "connect-failed, then loading again while it lists its models",
      given: [...IN_SERVICE, CONNECT_FAILED],
      when: [liveness("status 503"), readiness()],
      phase: "not-ready",
    },
  ]);
});

describe("engines that list their models before they have loaded them", () => {
  const loading = [liveness("status 503"), startup(), readiness()];
  check([
    { name: "503 on the liveness path delays the startup", when: loading, phase: "starting", and: { isStarted: false } },
    {
      name: "as long as it lasts",
      when: times(300, loading[0]!).flatMap(() => loading),
      phase: "starting",
      and: { livenessLosses: 0 },
    },
    { name: "until it returns 200", given: loading, when: [liveness(), startup(), readiness()], phase: "ready" },
    {
      name: "another failure of the liveness path does not",
      when: [liveness("status 500"), startup(), readiness()],
      phase: "ready",
    },
    { name: "in service a single 503 there changes nothing", given: IN_SERVICE, when: [liveness("status 503")], phase: "ready" },
  ]);
});

describe("loading is not an error", () => {
  const rows: readonly (readonly [string, readonly ProbeEvent[], boolean])[] = [
    ["refused while starting", [startup("refused")], true],
    ["503 while starting", [startup("status 503")], true],
    ["503 on the liveness path while starting", [liveness("status 503"), startup()], true],
    ["500 while starting", [startup("status 500")], false],
    ["401 while starting", [startup("status 401")], false],
    ["timeout while starting", [startup("timeout")], false],
    ["refused in service", [...IN_SERVICE, readiness("refused")], false],
    ["refused and overdue", [startup("refused"), OVERDUE], false],
  ];
  for (const [name, events, expected] of rows) test(name, () => assert.equal(isLoading(after(events)), expected));
});

describe("models and generation", () => {
  check([
    { name: "first list", given: IN_SERVICE, when: [], phase: "ready", and: { models: ["base"], generation: 0 } },
    {
      name: "an adapter comes",
      given: IN_SERVICE,
      when: [models("base", "a1")],
      phase: "ready",
      and: { models: ["base", "a1"], generation: 0 },
    },
    {
      name: "an adapter is replaced",
      given: [...IN_SERVICE, models("base", "a1")],
      when: [models("base", "a2")],
      phase: "ready",
      and: { models: ["base", "a2"], generation: 0 },
    },
    {
      name: "all names are new in service: another process",
      given: IN_SERVICE,
      when: [models("other")],
      phase: "ready",
      and: { generation: 1 },
    },
    {
      name: "back with another list",
      given: READINESS_LOST,
      when: [models("base", "a1"), readiness()],
      phase: "ready",
      and: { models: ["base", "a1"], generation: 1 },
    },
    {
      name: "back with the same list after timeouts: the same process",
      given: READINESS_LOST,
      when: [readiness()],
      phase: "ready",
      and: { generation: 0 },
    },
    {
      name: "back after it refused: another process",
      given: [...READINESS_LOST, readiness("refused")],
      when: [readiness()],
      phase: "ready",
      and: { generation: 1 },
    },
    {
      name: "restarted between two probes",
      given: [...IN_SERVICE, readiness("refused")],
      when: [readiness()],
      phase: "ready",
      and: { generation: 1 },
    },
    {
      name: "back after connect-failed",
      given: [...IN_SERVICE, CONNECT_FAILED],
      when: [readiness(), readiness()],
      phase: "ready",
      and: { generation: 1 },
    },
    {
      name: "back after liveness was lost",
      given: LIVENESS_LOST,
      when: [liveness(), readiness()],
      phase: "ready",
      and: { generation: 1 },
    },
    {
      name: "refused while it starts is not a restart",
      when: [startup("refused"), ...IN_SERVICE],
      phase: "ready",
      and: { generation: 0 },
    },
    { name: "a list that becomes empty", given: IN_SERVICE, when: [models()], phase: "ready", and: { models: [] } },
  ]);
});
