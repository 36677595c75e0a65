/** How many replicas are wanted: what autoscalers read at the admin port. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { openClient } from "../support/raw-client.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const GROUP = "/apis/external.metrics.k8s.io/v1beta1";
const METRIC = `${GROUP}/namespaces/default/signalbox-wanted-replicas`;

async function setUpPool(spec: string) {
  const replica = await startScriptedReplica(answerOk);
  await replica.refuse();
  const router = await startTestRouter([replica.url], { spec: `  pool: { name: llama }\n${spec}`, ready: 0 });
  const admin = await startTestAdmin(router.router);
  after(async () => {
    await admin.close();
    await router.close();
    await replica.close();
  });
  const read = async (path: string) => {
    const { status, body } = await askFor(admin.port, path);
    return { status, json: JSON.parse(body) };
  };
  return { replica, router, read };
}

describe("a pool of which nothing runs", () => {
  it("is woken by a request that waits for it, which is served then", async () => {
    const { replica, router, read } = await setUpPool("  scale: {}\n  admission: { waitsForReplicas: true }\n");
    assert.deepEqual((await read("/scale")).json, {
      ...{ pool: "llama", wanted: 0, ready: 0, underWay: 0, waiting: 0, work: 0, room: null, models: [] },
    });
    const client = await openClient(router.port);
    client.send(chatPost());
    await waitUntil(() => (router.router.features.status() as { scale: { waiting: number } }).scale.waiting === 1);
    const { json } = await read("/scale");
    assert.deepEqual([json.wanted, json.underWay, json.models[0].model, json.models[0].wanted], [1, 1, "m", 1]);
    assert.equal((await read("/scale?model=m")).json.wanted, 1);
    assert.equal((await read("/scale?model=other")).json.wanted, 0);
    await replica.listenAgain();
    await client.until((text) => text.includes('"Hi"'));
    client.destroy();
    await assertIdle(router);
    assert.deepEqual([(await read("/scale")).json.wanted, (await read("/scale")).json.waiting], [1, 0]);
  });

  it("shows it as the API of Kubernetes does, so that horizontal pod autoscalers read it", async () => {
    const { router, read } = await setUpPool("  scale: {}\n");
    const refused = await fetch(`${router.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"model":"m","messages":[]}',
    });
    assert.equal(refused.status, 503);
    await refused.text();
    const { resources, ...list } = (await read(GROUP)).json;
    assert.deepEqual(list, { kind: "APIResourceList", apiVersion: "v1", groupVersion: "external.metrics.k8s.io/v1beta1" });
    assert.deepEqual([resources[0].name, resources[0].namespaced], ["signalbox-wanted-replicas", true]);
    const value = async (query = "") => {
      const { json } = await read(METRIC + query);
      assert.equal(json.kind, "ExternalMetricValueList");
      return json.items.map(({ value, metricLabels }: { value: string; metricLabels: object }) => [value, metricLabels]);
    };
    assert.deepEqual(await value(), [["1", { pool: "llama" }]]);
    assert.deepEqual(await value("?labelSelector=pool%3Dllama%2Cmodel%3Dm"), [["1", { pool: "llama", model: "m" }]]);
    assert.deepEqual(await value("?labelSelector=model%3Dnone"), [["0", { pool: "llama", model: "none" }]]);
    assert.deepEqual(await value("?labelSelector=pool%3Dother"), []);
    assert.equal((await read(`${METRIC}?labelSelector=tier+in+(a)`)).status, 400);
    assert.equal((await read(`${GROUP}/namespaces/default/other`)).status, 404);
  });

  it("is not counted where the config does not say so", async () => {
    const { read } = await setUpPool("");
    const { status, json } = await read("/scale");
    assert.deepEqual([status, json.error.code], [404, "scale_off"]);
    assert.match(json.error.message, /add "scale: \{\}"/);
  });
});
