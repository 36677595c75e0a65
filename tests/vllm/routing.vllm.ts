/** The router in front of real vLLM servers: two for generation, one for embeddings. */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { type RealVllm, startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";
import { assertionsFor } from "../support/replica-contract.ts";
import { outstanding, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const dir = vllmDir();
const PORTS = [8141, 8142, 8143] as const;
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food-review } } ]
      targets: [ { modelRewrite: food-review-v1, weight: 90 }, { modelRewrite: food-review-v2, weight: 10 } ]
`;
const QUICK_PROBES = `  pool:
    probes: { readiness: { periodSeconds: 1, failureThreshold: 2 } }
`;

if (dir === undefined) test("the router before a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else describe("the router before real vLLM servers", () => scenarios(dir));

function scenarios(vllm: string): void {
  const servers: RealVllm[] = [];
  let router: TestRouter;
  let embeddings: TestRouter;

  before(
    async () => {
      servers.push(
        ...(await Promise.all([
          startVllm({ dir: vllm, port: PORTS[0] }),
          startVllm({ dir: vllm, port: PORTS[1] }),
          startVllm({ dir: vllm, port: PORTS[2], isEmbedding: true }),
        ])),
      );
      router = await startTestRouter([servers[0]!.url, servers[1]!.url], { spec: QUICK_PROBES, documents: REWRITE });
      embeddings = await startTestRouter([servers[2]!.url]);
    },
    { timeout: 450_000 },
  );
  after(async () => {
    await router?.close();
    await embeddings?.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  for (const row of assertionsFor("any", "generate")) it(row.name, () => row.run(router.url, vllmNames(vllm)));
  for (const row of assertionsFor("embed")) it(row.name, () => row.run(embeddings.url, vllmNames(vllm, true)));

  it("splits 90/10 over two adapters, and the answer names the target", async () => {
    const models = new Map<string, number>();
    for (let i = 0; i < 20; i++) {
      const answer = await complete(router, { model: "food-review", prompt: `review ${i}`, max_tokens: 2 });
      const { model } = (await answer.json()) as { model: string };
      assert.equal(answer.headers.get("x-signalbox-model"), model);
      models.set(model, (models.get(model) ?? 0) + 1);
    }
    assert.deepEqual(Object.fromEntries(models), { "food-review-v1": 18, "food-review-v2": 2 });
  });

  it("a client that leaves a stream stops the work on the server", async () => {
    const { endpoint, reader, abort } = await openStream(router);
    const server = serverOf(endpoint);
    await reader.read();
    await until(async () => (await running(server)) >= 1);
    abort();
    await until(async () => (await running(server)) === 0);
    await waitUntil(() => outstanding(router.router).inFlight === 0);
  });

  it("an adapter loaded or unloaded at run time is noticed", async () => {
    const { adapterPath } = vllmNames(vllm);
    const body = { model: "late", prompt: "x", max_tokens: 1 };
    assert.equal((await complete(router, body)).status, 404);
    await post(`${servers[1]!.url}/v1/load_lora_adapter`, { lora_name: "late", lora_path: adapterPath });
    await waitUntil(() => router.router.pool.facts.served.has("late"));
    for (let i = 0; i < 4; i++) {
      const answer = await complete(router, body);
      assert.equal(answer.status, 200);
      assert.equal(serverOf(answer.headers.get("x-signalbox-endpoint")), servers[1]);
    }
    await post(`${servers[1]!.url}/v1/unload_lora_adapter`, { lora_name: "late" });
    await waitUntil(() => !router.router.pool.facts.served.has("late"));
    assert.equal((await complete(router, body)).status, 404);
  });

  it("a server killed in mid-stream: error event, no clean end, and the other one serves on", async () => {
    const { endpoint, reader } = await openStream(router);
    await reader.read();
    const server = serverOf(endpoint);
    process.kill(server.pid, "SIGKILL");
    const rest = await readToTheEnd(reader);
    assert.match(rest.text, /data: \{"error":/);
    assert.ok(rest.isBroken);
    assert.ok(!rest.text.includes("[DONE]"));
    // A request that it gets while its process still ends is lost with it: nobody may send it to the next replica.
    const { pool } = router.router;
    await waitUntil(() => pool.facts.endpoints.some(({ name, isAvailable }) => serverOf(name) === server && !isAvailable));
    for (let i = 0; i < 5; i++) {
      const answer = await complete(router, { model: "tiny", prompt: `after ${i}`, max_tokens: 1 });
      assert.equal(answer.status, 200);
      assert.notEqual(serverOf(answer.headers.get("x-signalbox-endpoint")), server);
    }
  });

  it("a server told to stop, which leaves its stream open and silent: error event", { timeout: 90_000 }, async () => {
    const { endpoint, reader } = await openStream(router);
    await reader.read();
    process.kill(serverOf(endpoint).pid, "SIGTERM");
    const rest = await readToTheEnd(reader);
    assert.ok(rest.isBroken || rest.text.includes("[DONE]"));
    if (!rest.text.includes("[DONE]")) assert.match(rest.text, /data: \{"error":/);
    await waitUntil(() => outstanding(router.router).inFlight === 0);
    // Its engine stops some 50 ms before its HTTP server: until then vLLM itself answers, with a 500 that passes through.
    let status = 0;
    await until(async () => {
      ({ status } = await complete(router, { model: "tiny", prompt: "x", max_tokens: 1 }));
      return status !== 500;
    });
    assert.ok(status === 502 || status === 503, `status ${status}`);
  });

  function serverOf(endpointName: string | null): RealVllm {
    const index = router.router.pool.facts.endpoints.findIndex(({ name }) => name === endpointName);
    const server = servers[index];
    if (server === undefined) throw new Error(`No endpoint "${endpointName}"`);
    return server;
  }
}

function complete(router: TestRouter, body: unknown): Promise<Response> {
  return post(`${router.url}/v1/completions`, body);
}

/** On kept connections: with "Connection: close" this client takes a response that breaks off for a whole one. */
function post(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  return fetch(url, signal === undefined ? init : { ...init, signal });
}

/** A stream long enough to be interrupted. */
async function openStream(router: TestRouter) {
  const stop = new AbortController();
  const body = { model: "tiny", prompt: "long", max_tokens: 4000, ignore_eos: true, stream: true };
  const answer = await post(`${router.url}/v1/completions`, body, stop.signal);
  assert.equal(answer.status, 200);
  const reader = answer.body?.getReader();
  if (reader === undefined) throw new Error("No body");
  return { endpoint: answer.headers.get("x-signalbox-endpoint"), reader, abort: () => stop.abort() };
}

async function readToTheEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<{ text: string; isBroken: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += decoder.decode(part.value, { stream: true });
    return { text, isBroken: false };
  } catch {
    return { text, isBroken: true };
  }
}

async function running(server: RealVllm): Promise<number> {
  const page = await (await fetch(`${server.url}/metrics`, { headers: { Connection: "close" } })).text();
  return Number(/^vllm:num_requests_running\{[^}]*\} (\S+)/m.exec(page)?.[1] ?? Number.NaN);
}

async function until(isTrue: () => Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const start = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - start > timeoutMs) throw new Error(`Not true within ${timeoutMs} ms: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
