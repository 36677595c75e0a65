import assert from "node:assert/strict";
import type { Json, Names, ReplicaAssertion } from "./checks.ts";
import { count, jsonOf, list, object, PROMPT, post, postJson, REQUESTS, send, TIMEOUT_MS, targets } from "./checks.ts";

/** The longest block size in use is 32 tokens of at least one character each. */
const LONG_PROMPT = "All trains stop here. ".repeat(40);

const SERIES = [
  "vllm:num_requests_running",
  "vllm:num_requests_waiting",
  "vllm:kv_cache_usage_perc",
  "vllm:prefix_cache_queries_total",
  "vllm:prefix_cache_hits_total",
  "vllm:generation_tokens_total",
  "vllm:cache_config_info",
];

async function metricsPage(baseUrl: string): Promise<string> {
  const response = await send(baseUrl, "/metrics");
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=/);
  return response.text();
}

async function runningRequests(baseUrl: string): Promise<number> {
  const found = /^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(await metricsPage(baseUrl));
  return Number(found?.[1]);
}

async function generatedTokens(baseUrl: string): Promise<number> {
  const found = /^vllm:generation_tokens_total\{[^}]*\} (\S+)$/m.exec(await metricsPage(baseUrl));
  return Number(found?.[1]);
}

/** Leaves a stream after its first bytes; returns how many of the 3,000 tokens asked for the engine made all the same. */
async function tokensAfterLeaving(baseUrl: string, model: string): Promise<number> {
  const before = await generatedTokens(baseUrl);
  const body = { model, prompt: PROMPT, max_tokens: 3000, ignore_eos: true, stream: true };
  const response = await post(baseUrl, "/v1/completions", body);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await waitFor(async () => (await runningRequests(baseUrl)) === 0);
  return (await generatedTokens(baseUrl)) - before;
}

/** Asks until it is so; bounded by the time limit of every row. */
async function waitFor(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, "it did not come about in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function cachedTokens(baseUrl: string, body: Json): Promise<number> {
  const answer = await postJson(baseUrl, "/v1/completions", { ...body, max_tokens: 1 });
  const details = object(object(answer["usage"], "usage")["prompt_tokens_details"], "prompt_tokens_details");
  return count(details["cached_tokens"], "cached_tokens");
}

/** The server's own routes and habits, which a proxy in front does not show. */
export const engineRows: readonly ReplicaAssertion[] = [
  {
    name: "metrics have vLLM's names and labels",
    needs: "engine",
    async run(baseUrl, names) {
      const page = await metricsPage(baseUrl);
      for (const series of SERIES) assert.match(page, new RegExp(`^${series}\\{.*engine="0".*\\} \\S+$`, "m"));
      assert.ok(page.includes(`vllm:num_requests_running{engine="0",model_name="${names.base}"}`));
      assert.match(
        page,
        /^vllm:cache_config_info\{.*block_size="\d+".*kv_cache_size_tokens="\d+".*num_gpu_blocks="\d+".*\} 1\.0$/m,
      );
    },
  },
  {
    name: "version, load and tokenize answer",
    needs: "engine",
    async run(baseUrl, names) {
      assert.equal(typeof (await jsonOf(await send(baseUrl, "/version")))["version"], "string");
      count((await jsonOf(await send(baseUrl, "/load")))["server_load"], "server_load");
      const tokens = await postJson(baseUrl, "/tokenize", { model: names.base, prompt: PROMPT });
      assert.equal(tokens["count"], list(tokens["tokens"], "tokens").length);
      count(tokens["max_model_len"], "max_model_len");
    },
  },
  {
    name: "a wrong method is 405 and names the right one",
    needs: "engine",
    async run(baseUrl) {
      const response = await send(baseUrl, "/v1/models", { method: "DELETE" });
      assert.equal(response.headers.get("allow"), "GET");
      await jsonOf(response, 405);
    },
  },
  {
    name: "the model list has the base first and the adapters under it",
    needs: "engine",
    async run(baseUrl, names) {
      const cards = list((await jsonOf(await send(baseUrl, "/v1/models")))["data"], "data");
      const shown = cards.map((card) => [card["id"], card["parent"]]);
      assert.deepEqual(
        shown,
        targets(names).map((id, index) => [id, index === 0 ? null : names.base]),
      );
    },
  },
  {
    name: "the client's request id comes back and becomes the id",
    needs: "generate-engine",
    async run(baseUrl, names) {
      const body = { ...REQUESTS.completions.body, model: names.base };
      const response = await post(baseUrl, REQUESTS.completions.path, body, { "x-request-id": "contract-7" });
      assert.equal(response.headers.get("x-request-id"), "contract-7");
      assert.equal((await jsonOf(response))["id"], "cmpl-contract-7");
      const other = await post(baseUrl, REQUESTS.completions.path, body);
      assert.match(other.headers.get("x-request-id") ?? "", /^[0-9a-f]{32}$/);
      await other.body?.cancel();
    },
  },
  {
    name: "no model means the base model, except on messages",
    needs: "generate-engine",
    async run(baseUrl, names) {
      const { completions, messages } = REQUESTS;
      assert.equal((await postJson(baseUrl, completions.path, completions.body))["model"], names.base);
      assert.equal((await postJson(baseUrl, completions.path, { ...completions.body, model: "" }))["model"], names.base);
      await jsonOf(await post(baseUrl, messages.path, messages.body), 400);
    },
  },
  {
    name: "requests vLLM refuses are 400",
    needs: "generate-engine",
    async run(baseUrl, names) {
      const bodies: readonly Json[] = [
        { prompt: PROMPT, max_tokens: 0 },
        { prompt: PROMPT, max_tokens: 1_000_000_000 },
        { prompt: PROMPT, stream_options: { include_usage: true } },
        { prompt: PROMPT, cache_salt: "" },
        { prompt: 5 },
        {},
      ];
      for (const body of bodies) await jsonOf(await post(baseUrl, "/v1/completions", { model: names.base, ...body }), 400);
      await jsonOf(await post(baseUrl, "/v1/completions", { prompt: PROMPT }, { "content-type": "text/plain" }), 400);
    },
  },
  {
    name: "a repeated prompt is found in the prefix cache, for each adapter and salt apart",
    needs: "generate-engine",
    async run(baseUrl, names) {
      const prompt = `${Math.random()} ${LONG_PROMPT}`;
      const bodies: readonly Json[] = targets(names).map((model) => ({ model, prompt }));
      for (const body of [...bodies, { model: names.base, prompt, cache_salt: "s" }]) {
        assert.equal(await cachedTokens(baseUrl, body), 0);
        assert.ok((await cachedTokens(baseUrl, body)) > 0);
      }
    },
  },
  {
    name: "a client that leaves a stream frees the engine",
    needs: "generate-engine",
    async run(baseUrl, names) {
      // On a starved machine the server may notice nothing before its last token; three times in a row it would be a fault.
      const made: number[] = [];
      while (made.length < 3 && !made.some((tokens) => tokens < 3000)) made.push(await tokensAfterLeaving(baseUrl, names.base));
      assert.ok(
        made.some((tokens) => tokens < 3000),
        `tokens made each time: ${made}`,
      );
    },
  },
  { name: "an adapter is loaded, served and unloaded", needs: "generate-engine", run: loadAndUnload },
];

async function loadAndUnload(baseUrl: string, names: Names): Promise<void> {
  if (names.adapterPath === undefined) return;
  const adapter = { lora_name: "contract-adapter", lora_path: names.adapterPath };
  const loaded = await post(baseUrl, "/v1/load_lora_adapter", adapter);
  assert.equal(loaded.status, 200);
  assert.equal(loaded.headers.get("content-type"), null);
  assert.equal(await loaded.text(), "Success: LoRA adapter 'contract-adapter' added successfully.");
  await jsonOf(await post(baseUrl, "/v1/load_lora_adapter", adapter), 400);
  const body = { ...REQUESTS.completions.body, model: "contract-adapter" };
  assert.equal((await postJson(baseUrl, REQUESTS.completions.path, body))["model"], "contract-adapter");
  const unloaded = await post(baseUrl, "/v1/unload_lora_adapter", adapter);
  assert.equal(await unloaded.text(), "Success: LoRA adapter 'contract-adapter' removed successfully.");
  await jsonOf(await post(baseUrl, REQUESTS.completions.path, body), 404);
  await jsonOf(await post(baseUrl, "/v1/unload_lora_adapter", adapter), 404);
  await jsonOf(await post(baseUrl, "/v1/load_lora_adapter", { lora_name: "contract-adapter" }), 400);
}
