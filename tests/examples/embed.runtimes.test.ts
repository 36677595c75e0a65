import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import OpenAI from "openai";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { createApp } from "../../examples/embed-hono.ts";
import { run } from "../support/cli.ts";
import { serveNatively } from "../support/native-server.ts";

const messages = [{ role: "user" as const, content: "Was the soup any good?" }];
let replica: MockReplica;
before(async () => {
  replica = await startMockReplica({ model: "m", timeScale: 0 });
});
after(() => replica.close());

async function textOf(client: OpenAI): Promise<string> {
  const whole = await client.chat.completions.create({ model: "m", messages, max_tokens: 20 });
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "m", messages, max_tokens: 20, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? "";
  }
  assert.equal(text, whole.choices[0]?.message.content);
  return text;
}

describe("embed-hono.ts", () => {
  let app: Awaited<ReturnType<typeof createApp>>;
  before(async () => {
    app = await createApp([replica.url], "secret", "operator");
  });
  after(() => app.close());

  it("works without a listener: the SDK calls it as its fetch", async () => {
    const client = new OpenAI({
      baseURL: "http://app/v1",
      apiKey: "secret",
      maxRetries: 0,
      fetch: async (input, init) => app.fetch(new Request(input, init)),
    });
    assert.ok(await textOf(client));
    await assert.rejects(client.chat.completions.create({ model: "unlisted", messages }), OpenAI.NotFoundError);
  });

  it("works with this runtime's own server", async () => {
    const server = await serveNatively((request) => app.fetch(request));
    after(() => server.close());
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${server.port}/v1`, apiKey: "secret", maxRetries: 0 });
    assert.ok(await textOf(client));
  });

  it("keeps its own paths and its own API key", async () => {
    assert.match(await (await app.fetch(new Request("http://app/"))).text(), /Hello/);
    assert.equal((await app.fetch(new Request("http://app/v1/models"))).status, 401);
  });

  it("shows operators metrics, status and decisions, and nobody else", async () => {
    const ask = (path: string, key: string) =>
      app.fetch(new Request(`http://app/ops/${path}`, { headers: { authorization: `Bearer ${key}` } }));
    for (const [path, text] of [
      ["metrics", /^signalbox_/m],
      ["status", /"endpoints":\[\{"name"/],
      ["explain", /"decisions":\[\{"id"/],
    ] as const) {
      assert.match(await (await ask(path, "operator")).text(), text);
      assert.equal((await ask(path, "secret")).status, 401);
    }
  });
});

describe("embed-deno-serve.ts", () => {
  it("serves requests and shuts down", async (t) => {
    if (!("Deno" in globalThis)) {
      t.skip("only Deno has Deno.serve");
      return;
    }
    const { serve } = await import("../../examples/embed-deno-serve.ts");
    const server = await serve([replica.url], 0, 0);
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${server.port}/v1`, apiKey: "unused", maxRetries: 0 });
    assert.ok(await textOf(client));
    const { code, out } = await run("status", "--admin", `http://127.0.0.1:${server.adminPort}`);
    assert.deepEqual([code, /1 of 1 replicas ready/.test(out)], [0, true]);
    await server.close();
  });
});
