import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { KubernetesError } from "../../../../apps/kubernetes/kubernetes-error.ts";
import type { EndpointSpec } from "../../../../core/contract/endpoint.ts";
import type { ReplicaChoice } from "../../../../plugins/features/kubernetes/replica-choice.ts";
import { searchReplicas } from "../../../../plugins/features/kubernetes/replicas.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { FakeClock, settle } from "../../../support/fake-clock.ts";
import { scriptedKubernetes } from "../../../support/scripted-kubernetes.ts";

const PORTS = { prefill: [8000], decode: [8200], standalone: undefined };
const POOL: ReplicaChoice = { by: "inferencePool", name: "vllm", ports: PORTS };
const NOT_FOUND = new KubernetesError(404, "NotFound", "there is none");
const DOWN = new KubernetesError(0, "", "connection refused");

const pod = (name: string, ip: string) => ({
  metadata: { name },
  status: { phase: "Running", podIP: ip, conditions: [{ type: "Ready", status: "True" }] },
});
const pool = (app: string, ...ports: readonly number[]) => ({
  metadata: { name: "vllm", resourceVersion: "2" },
  spec: { selector: { matchLabels: { app } }, targetPorts: ports.map((number) => ({ number })) },
});
const list = (...items: readonly object[]) => ({ metadata: { resourceVersion: "1" }, items });

/** A search in a scripted cluster; what it told is in `told`, as URLs. */
function setUp(choice: ReplicaChoice) {
  const server = scriptedKubernetes();
  const clock = new FakeClock();
  const log = collectedLog();
  const told: string[] = [];
  const begin = async (...answers: readonly (object | Error)[]) => {
    server.answers.push(...answers);
    const found = (specs: readonly EndpointSpec[]) => told.push(specs.map(({ url }) => url).join(" "));
    const search = searchReplicas(choice, { client: server.client, namespace: "llm", clock, random: () => 1, log, found });
    after(() => search.stop());
    await settle();
    return search;
  };
  return { ...server, clock, log, told, begin };
}

describe("the replicas of an InferencePool", () => {
  it("are the pods that it selects now, at the ports that it has now; those before stay until the others are listed", async () => {
    const { begin, watches, answers, told, lists, clock } = setUp(POOL);
    await begin(pool("a", 1), list(pool("a", 1)), list(pod("x", "10.0.0.1")));
    assert.deepEqual(told, ["http://10.0.0.1:1"]);
    assert.deepEqual(lists.map((query) => query.get("fieldSelector") ?? query.get("labelSelector")).slice(1), [
      "metadata.name=vllm",
      "app=a",
    ]);
    const [pools, pods] = watches;
    await clock.advance(1000);
    pools?.begin();
    pools?.write({ type: "MODIFIED", object: pool("a", 2) });
    assert.deepEqual(told.slice(1), ["http://10.0.0.1:2 http://10.0.0.1:1"], "the port that is gone stays for a while");
    answers.push(DOWN);
    pools?.write({ type: "MODIFIED", object: pool("b", 2) });
    await clock.advance(100);
    assert.equal(pods?.isOver, true);
    assert.equal(told.length, 2);
  });

  it("are looked for again, at most every two to five seconds, while there is no pool; the log says so once", async () => {
    const { begin, clock, lists, log, told, answers } = setUp(POOL);
    const search = await begin(NOT_FOUND, NOT_FOUND);
    assert.match(search.trouble?.text ?? "", /no InferencePool vllm in the namespace llm: create it/);
    assert.ok(Number.isNaN(search.trouble?.sinceMs));
    for (let round = 0; round < 20; round++) {
      answers.push(NOT_FOUND, NOT_FOUND);
      await clock.advance(10_000);
      answers.length = 0;
    }
    assert.ok(lists.length < 120, `${lists.length} requests in 200 s`);
    assert.equal(log.lines.length, 1);
    answers.push(NOT_FOUND, pool("a", 1), list(pool("a", 1)), list(pod("x", "10.0.0.1")));
    await clock.advance(30_000);
    assert.deepEqual(told, ["http://10.0.0.1:1"]);
    assert.equal(search.trouble, undefined);
  });

  it("stay when the pool is deleted or selects nothing any more, and trouble says so", async () => {
    const { begin, watches, told, clock, log } = setUp(POOL);
    const search = await begin(pool("a", 1), list(pool("a", 1)), list(pod("x", "10.0.0.1")));
    watches[0]?.begin();
    await clock.advance(1000);
    watches[0]?.write({ type: "MODIFIED", object: { metadata: { name: "vllm" }, spec: { selector: {} } } });
    assert.match(search.trouble?.text ?? "", /is deleted, or selects nothing/);
    assert.equal(search.trouble?.sinceMs, 0);
    watches[0]?.write({ type: "DELETED", object: pool("a", 1) });
    await clock.advance(100);
    assert.equal(log.lines.length, 1);
    assert.equal(told.length, 1);
    watches[0]?.write({ type: "ADDED", object: pool("a", 3) });
    await clock.advance(100);
    assert.equal(search.trouble, undefined);
    assert.equal(told.at(-1), "http://10.0.0.1:3 http://10.0.0.1:1");
  });
});

describe("a search for replicas", () => {
  it("says that it is in trouble while pods can't be watched, and ends with stop", async () => {
    const { begin, watches, clock } = setUp({ by: "selector", labels: { app: "a" }, ports: PORTS });
    const search = await begin(list(pod("x", "10.0.0.1")));
    watches[0]?.begin();
    watches[0]?.fail(DOWN);
    await settle();
    assert.deepEqual(search.trouble, { text: "connection refused", sinceMs: 0 });
    search.stop();
    await settle();
    assert.equal(clock.pending, 0);
  });

  it("says once which port of a Service it has to be told, and keeps the last endpoints", async () => {
    const slice = (...ports: readonly object[]) => ({
      metadata: { name: "s" },
      ...{ addressType: "IPv4", ports, endpoints: [{ addresses: ["10.0.0.1"] }] },
    });
    const { begin, watches, told, log, clock } = setUp({ by: "service", name: "vllm", port: undefined });
    const search = await begin(list(slice({ port: 1 })));
    watches[0]?.begin();
    await clock.advance(1000);
    for (let time = 0; time < 3; time++) {
      watches[0]?.write({ type: "MODIFIED", object: slice({ name: "a", port: 1 }, { name: "b", port: 2 }) });
      await clock.advance(100);
    }
    assert.match(search.trouble?.text ?? "", /servicePort/);
    assert.deepEqual(told, ["http://10.0.0.1:1"]);
    assert.equal(log.lines.length, 1);
  });
});
