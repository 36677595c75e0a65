import assert from "node:assert/strict";
import { test } from "node:test";
import { type MockReplica, startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

async function withReplica(
  { adapterLoadMs = 0, clock = new FakeClock() },
  use: (replica: MockReplica, clock: FakeClock) => Promise<void>,
): Promise<void> {
  const replica = await startMockReplica({ model: "base", availableAdapters: ["v1"], adapterLoadMs, timeScale: 0, clock });
  try {
    await use(replica, clock);
  } finally {
    await replica.close();
  }
}

async function post({ url }: MockReplica, path: string, body: object): Promise<number> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url + path, init);
  await response.text();
  return response.status;
}

const ask = (replica: MockReplica, model: string) => post(replica, "/v1/completions", { model, prompt: "x", max_tokens: 1 });

async function listed({ url }: MockReplica): Promise<readonly string[]> {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: readonly { id: string }[] };
  return data.map(({ id }) => id);
}

test("an adapter in the folder is listed once a request has loaded it, by generating or by counting tokens", async () => {
  await withReplica({}, async (replica) => {
    replica.adapters.put("v2");
    assert.deepEqual(await listed(replica), ["base"]);
    assert.equal(await ask(replica, "v1"), 200);
    assert.equal(await post(replica, "/tokenize", { model: "v2", prompt: "x" }), 200);
    assert.deepEqual(await listed(replica), ["base", "v1", "v2"]);
    assert.equal(await ask(replica, "v3"), 404);
  });
});

test("one that is removed from the folder stays loaded until it is unloaded, and is not loaded again", async () => {
  await withReplica({}, async (replica) => {
    await ask(replica, "v1");
    replica.adapters.remove("v1");
    assert.equal(await ask(replica, "v1"), 200);
    assert.equal(await post(replica, "/v1/unload_lora_adapter", { lora_name: "v1" }), 200);
    assert.equal(await ask(replica, "v1"), 404);
  });
});

test("a load takes its time, once for all requests that wait for it", async () => {
  await withReplica({ adapterLoadMs: 500 }, async (replica, clock) => {
    const answers = [ask(replica, "v1"), ask(replica, "v1")];
    await replica.seen.until((requests) => requests.filter(({ body }) => body.length > 0).length === 2);
    await clock.advance(499);
    assert.deepEqual(await listed(replica), ["base"]);
    await clock.advance(1);
    assert.deepEqual(await Promise.all(answers), [200, 200]);
    assert.deepEqual(await listed(replica), ["base", "v1"]);
  });
});
