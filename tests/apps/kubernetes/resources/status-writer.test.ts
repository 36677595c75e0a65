import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KubernetesError } from "../../../../apps/kubernetes/kubernetes-error.ts";
import type { Condition } from "../../../../apps/kubernetes/resources/conditions.ts";
import { type StatusTarget, StatusWriter } from "../../../../apps/kubernetes/resources/status-writer.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { ScriptedApi } from "./scripted-api.ts";

const PLACEHOLDER: Condition = {
  type: "Accepted",
  status: "Unknown",
  reason: "Pending",
  message: "Waiting for controller",
  lastTransitionTime: "1970-01-01T00:00:00Z",
};

function target(name: string, isGood: boolean, more: Partial<StatusTarget> = {}): StatusTarget {
  const [status, reason, message] = isGood
    ? (["True", "Accepted", "It runs."] as const)
    : (["False", "Invalid", "spec.rules"] as const);
  return {
    regarding: { apiVersion: "llm-d.ai/v1alpha2", kind: "InferenceModelRewrite", namespace: "llm", name, uid: `uid-${name}` },
    path: `/apis/llm-d.ai/v1alpha2/namespaces/llm/inferencemodelrewrites/${name}`,
    resourceVersion: "1",
    generation: 4,
    findings: [{ type: "Accepted", status, reason, message }],
    status: { conditions: [PLACEHOLDER] },
    ...more,
  };
}

function setUp() {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const state = { isHolder: true };
  const writer = new StatusWriter({
    client: api,
    mayWrite: () => state.isHolder,
    identity: "router-1",
    clock,
    random: () => 0,
    log: silentLog,
  });
  const written = () => api.asked.filter(({ method }) => method === "PATCH").map(({ path }) => path.split("/").at(-2));
  const conditionsOf = (index: number) => (api.asked[index]!.body as { status: { conditions: Condition[] } }).status.conditions;
  const events = () => api.asked.filter(({ method }) => method === "POST");
  return { api, clock, state, writer, written, conditionsOf, events };
}

describe("the status of resources", () => {
  it("gets what is found of them, once", async () => {
    const { api, clock, writer, written, conditionsOf } = setUp();
    writer.follow([target("a", true), target("b", true)]);
    await clock.advance(1_000);
    assert.deepEqual(written(), ["a", "b"]);
    assert.deepEqual(conditionsOf(0), [
      {
        type: "Accepted",
        status: "True",
        reason: "Accepted",
        message: "It runs.",
        observedGeneration: 4,
        lastTransitionTime: "2030-01-01T00:00:00Z",
      },
    ]);
    assert.deepEqual(api.asked[0]?.body, { metadata: { resourceVersion: "1" }, status: { conditions: conditionsOf(0) } });
    writer.follow([target("a", true), target("b", true)]);
    await clock.advance(100_000);
    assert.equal(written().length, 2, "the watch has not shown yet what was written");
  });

  it("is not written where it says the same, and keeps its time where only the words change", async () => {
    const { clock, writer, written, conditionsOf } = setUp();
    const before: Condition = {
      ...{ type: "Accepted", status: "True", reason: "Accepted", message: "It runs.", observedGeneration: 4 },
      lastTransitionTime: "2020-01-01T00:00:00Z",
    } as Condition;
    const others = { ...before, type: "Programmed" };
    writer.follow([target("a", true, { status: { conditions: [before, others] } })]);
    await clock.advance(1_000);
    assert.deepEqual(written(), []);
    writer.follow([target("a", true, { generation: 5, status: { conditions: [before, others] } })]);
    await clock.advance(1_000);
    assert.deepEqual(conditionsOf(0), [{ ...before, observedGeneration: 5 }, others]);
  });

  it("is written by the router that holds the Lease alone", async () => {
    const { clock, writer, written, state } = setUp();
    state.isHolder = false;
    writer.follow([target("a", true)]);
    await clock.advance(10_000);
    assert.deepEqual(written(), []);
    state.isHolder = true;
    writer.wake();
    await clock.advance(1_000);
    assert.deepEqual(written(), ["a"]);
  });

  it("gets an event where a resource is rejected, and no other one while it is for the same reason", async () => {
    const { clock, writer, conditionsOf, events } = setUp();
    writer.follow([target("a", false)]);
    await clock.advance(1_000);
    assert.deepEqual(
      events().map(({ path, body }) => [path, (body as { note: string }).note, (body as { type: string }).type]),
      [["/apis/events.k8s.io/v1/namespaces/llm/events", "spec.rules", "Warning"]],
    );
    const status = { conditions: conditionsOf(0).map((condition) => ({ ...condition, message: "Somebody wrote over it." })) };
    writer.follow([target("a", false, { resourceVersion: "2", status: { conditions: conditionsOf(0) } })]);
    await clock.advance(1_000);
    assert.equal(events().length, 1);
    writer.follow([target("a", false, { resourceVersion: "3", status })]);
    await clock.advance(1_000);
    assert.equal(events().length, 2);
  });

  it("that can't be written is tried again ever more seldom, and holds up no other one", async () => {
    const { api, clock, writer, written } = setUp();
    api.isDown = true;
    writer.follow([target("a", true), target("b", true)]);
    await clock.advance(600_000);
    assert.ok(written().length < 60, String(written().length));
    api.isDown = false;
    api.failures.push(new KubernetesError(422, "Invalid", "It does not fit."));
    await clock.advance(200_000);
    assert.deepEqual(written().slice(-2), ["a", "b"]);
  });

  it("is left to the watch where the resource is another one by now", async () => {
    const { api, clock, writer, written } = setUp();
    api.failures.push(new KubernetesError(409, "Conflict", "It is another one."));
    writer.follow([target("a", true)]);
    await clock.advance(10_000);
    assert.deepEqual(written(), ["a"]);
    writer.follow([target("a", true, { resourceVersion: "2" })]);
    await clock.advance(1_000);
    assert.deepEqual(written(), ["a", "a"]);
  });

  it("is written ten times a second at most", async () => {
    const { clock, writer, written } = setUp();
    writer.follow(Array.from({ length: 200 }, (_, index) => target(`r${index}`, true)));
    await clock.advance(5_000);
    assert.ok(written().length <= 51, String(written().length));
    await clock.advance(16_000);
    assert.equal(written().length, 200);
  });
});
