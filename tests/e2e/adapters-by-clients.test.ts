import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { collectedLog } from "../support/collected-log.ts";
import { startTestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { setUp as setUpScripted } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script } from "../support/scripted-replica.ts";

const LOAD = "/v1/load_lora_adapter";
const UNLOAD = "/v1/unload_lora_adapter";

interface ShownError {
  readonly message: string;
  readonly type: string;
  readonly code: string | number;
  readonly replicas?: readonly { readonly endpoint: string }[];
}

async function post(
  { url }: { readonly url: string },
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  const isError = answer.headers.get("content-type") === "application/json";
  const { error } = isError ? (JSON.parse(text) as { error: ShownError }) : {};
  return { status: answer.status, text, error, requestId: answer.headers.get("x-request-id") };
}

async function modelsOf({ url }: { readonly url: string }): Promise<readonly string[]> {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: readonly { id: string }[] };
  return data.map(({ id }) => id).sort();
}

/** A router over mock replicas that have these adapters. */
async function setUp(adapters: readonly (readonly string[])[], options: TestRouterOptions = {}) {
  const replicas = await Promise.all(adapters.map((names) => startMockReplica({ model: "base", adapters: names, timeScale: 0 })));
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    options,
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { router, replicas, names: replicas.map(({ port }) => `127.0.0.1-${port}`) };
}

/** A router over scripted replicas; a change may take 200 ms there. */
const setUpScripts = (scripts: readonly Script[]) =>
  setUpScripted(scripts, {
    spec: "  limits: { responseTimeoutMs: 200 }\n  pool: { probes: { readiness: { periodSeconds: 0.05, failureThreshold: 1 } } }\n",
    models: ["m", "v1"],
  });

const succeed: Script = (_request, socket) => void socket.write(jsonAnswer("Success: LoRA adapter 'v1' done."));
const stall: Script = () => {};
const notFound: Script = (_request, socket) =>
  void socket.write(jsonAnswer('{"error":{"message":"Not Found","type":"Not Found","code":404}}', "404 Not Found"));

describe("adapters at the port for clients", () => {
  it("an unload reaches all replicas, the list lacks the adapter at once, and the log says who asked", async () => {
    const operatorLog = collectedLog();
    const { router, replicas, names } = await setUp([["v1", "v2"], ["v1"], []], { operatorLog });
    assert.deepEqual(await modelsOf(router), ["base", "v1", "v2"]);
    const answer = await post(router, UNLOAD, { lora_name: "v1" });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /^Success: LoRA adapter 'v1' removed successfully\.\n/);
    for (const name of names) assert.ok(answer.text.includes(`\n${name}: `));
    assert.match(answer.text, new RegExp(`${names[2]}: It does not have it\\.`));
    assert.deepEqual(await modelsOf(router), ["base", "v2"]);
    for (const replica of replicas) assert.ok(!(await modelsOf(replica)).includes("v1"));
    const line = operatorLog.lines.find((one) => one.startsWith("info: A client had an adapter unloaded")) ?? "";
    for (const part of ['"adapter":"v1"', '"client":"127.0.0.1"', `"id":"${answer.requestId}"`])
      assert.ok(line.includes(part), line);
  });

  it("a load reaches all replicas, and requests for it are served at once; a second one is refused as the engines do", async () => {
    const { router, replicas, names } = await setUp([["v2"], []]);
    const answer = await post(router, LOAD, { lora_name: "v2", lora_path: "/adapters/v2" });
    assert.deepEqual([answer.status, answer.text.split("\n")[0]], [200, "Success: LoRA adapter 'v2' added successfully."]);
    assert.match(answer.text, new RegExp(`${names[0]}: It has it already\\.`));
    assert.deepEqual(await modelsOf(router), ["base", "v2"]);
    const served = await post(router, "/v1/completions", { model: "v2", prompt: "hi", max_tokens: 1 });
    assert.equal(served.status, 200);
    const again = await post(router, LOAD, { lora_name: "v2", lora_path: "/adapters/v2" });
    assert.equal(again.status, 400);
    assert.match(again.error?.message ?? "", /^The lora adapter 'v2' has already been loaded\./);
    for (const replica of replicas) assert.deepEqual(await modelsOf(replica), ["base", "v2"]);
  });

  it("what no replica changes is refused as one engine refuses it", async () => {
    const { router, replicas, names } = await setUp([["v1"], ["v1"]]);
    const asks = [
      [UNLOAD, { lora_name: "nobody-has-it" }],
      [LOAD, { lora_name: "v1", lora_path: "/adapters/v1" }],
    ] as const;
    for (const [path, document] of asks) {
      const engine = await post(replicas[0]!, path, document);
      const { status, error } = await post(router, path, document);
      assert.deepEqual([status, error?.code], [engine.status, engine.error?.code]);
      assert.deepEqual([error?.message.split(".")[0], error?.type], [engine.error?.message.split(".")[0], engine.error?.type]);
      assert.deepEqual(error?.replicas?.map(({ endpoint }) => endpoint).sort(), [...names].sort());
    }
    await post(replicas[0]!, UNLOAD, { lora_name: "v1" });
    assert.equal((await post(router, UNLOAD, { lora_name: "v1" })).status, 200, "one replica still had it");
    assert.equal((await post(router, UNLOAD, { lora_name: "v1" })).status, 404);
  });

  it("what every replica refuses is refused with their status and words", async () => {
    const { router } = await setUp([[], []]);
    const { status, error } = await post(router, LOAD, { lora_name: "v2" });
    assert.equal(status, 400);
    assert.match(error?.message ?? "", /0 of 2 replicas did it/);
    assert.equal(error?.replicas?.length, 2);
  });

  it("an engine that does not allow it is named, and so is a replica that stalls or is gone", async () => {
    const { router, replicas } = await setUpScripts([succeed, notFound, stall, (_request, socket) => void socket.destroy()]);
    const { status, error } = await post(router, UNLOAD, { lora_name: "v1" });
    assert.equal(status, 502);
    assert.match(error?.message ?? "", /^1 of 4 replicas did it\./);
    const [done, ...failed] = replicas.map(({ port }) => `127.0.0.1-${port}: `);
    assert.ok(!error?.message.includes(done!));
    for (const name of failed) assert.ok(error?.message.includes(name), name);
    assert.match(error?.message ?? "", /Not Found/);
  });

  it("a client that leaves leaves nothing behind, and only some changes may be under way", async () => {
    const { router, replica } = await setUpScripts([stall]);
    const body = JSON.stringify({ lora_name: "v1" });
    const headers = { "Content-Type": "application/json" };
    const leaving = new AbortController();
    const asked = Array.from({ length: 8 }, () =>
      fetch(router.url + UNLOAD, { method: "POST", headers, body, signal: leaving.signal }).catch(() => undefined),
    );
    await waitUntil(() => replica.requests.length === 8);
    assert.equal((await post(router, UNLOAD, { lora_name: "v1" })).status, 429);
    leaving.abort();
    await Promise.all(asked);
    await waitUntil(() => router.log.filter(({ path, ending }) => path === UNLOAD && ending === "client-left").length === 8);
    await waitUntil(() => replica.requests.length === 8 && replica.sockets.size <= 1);
    assert.equal((await post(router, UNLOAD, { lora_name: "v1" })).status, 502);
  });
});

describe("a request to change adapters that can't be right", () => {
  const name = { lora_name: "v1" };
  const rows: readonly (readonly [what: string, body: unknown, status: number, headers?: Readonly<Record<string, string>>])[] = [
    ["no JSON", "{", 400],
    ["nothing", "", 400],
    ["no UTF-8", new Blob([new Uint8Array([0x22, 0xff, 0x22])]), 400],
    ["no object", "[]", 400],
    ["null", "null", 400],
    ["a number for a name", { lora_name: 7 }, 400],
    ["no name", { lora_path: "/x" }, 400],
    ["an empty name", { lora_name: "" }, 400],
    ["a name without end", { lora_name: "x".repeat(513) }, 400],
    ["deep nesting", `{"lora_name":${"[".repeat(30_000)}`, 400],
    ["deep nesting that ends", `{"lora_name":"v1","x":${"[".repeat(30_000)}${"]".repeat(30_000)}}`, 400],
    ["a body without end", { lora_name: "v1", more: "x".repeat(70_000) }, 413],
    ["no content type", name, 415, { "Content-Type": "text/plain" }],
    ["a web page", name, 403, { Origin: "http://evil.example" }],
  ];
  it("reaches no replica", async () => {
    const { router, replica } = await setUpScripts([succeed]);
    for (const [what, body, status, headers] of rows)
      assert.equal((await post(router, UNLOAD, body, headers)).status, status, what);
    assert.equal((await fetch(router.url + UNLOAD)).status, 405);
    assert.equal(replica.requests.length, 0);
    assert.equal((await post(router, UNLOAD, name)).status, 200);
  });

  it("is refused where the config says so, with how it can be done instead", async () => {
    const { router, replicas } = await setUp([["v1"]], { spec: "  pool: { adapters: { byClients: false } }\n" });
    for (const path of [LOAD, UNLOAD]) {
      const { status, error } = await post(router, path, name);
      assert.deepEqual([status, error?.code], [403, "adapters_closed"]);
      assert.match(error?.message ?? "", /spec\.pool\.adapters\.byClients/);
    }
    assert.deepEqual(await modelsOf(replicas[0]!), ["base", "v1"]);
  });

  it("is a 503 where no replica is in service", async () => {
    const { router, replica } = await setUpScripts([succeed]);
    await replica.close();
    await waitUntil(() => router.router.pool.facts.endpoints.every(({ phase }) => phase === "not-ready"));
    assert.equal((await post(router, UNLOAD, name)).status, 503);
  });
});
