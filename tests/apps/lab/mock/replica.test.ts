import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MockOptions } from "../../../../apps/lab/mock/options.ts";
import type { MockReplica } from "../../../../apps/lab/mock/replica.ts";
import { startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { openClient, postBytes } from "../../../support/raw-client.ts";
import { parseSse } from "../../../support/sse-events.ts";

async function withReplica(options: Partial<MockOptions>, use: (replica: MockReplica) => Promise<void>): Promise<void> {
  const replica = await startMockReplica({ model: "m", timeScale: 0, ...options });
  try {
    await use(replica);
  } finally {
    await replica.close();
  }
}

async function get(replica: MockReplica, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(replica.url + path);
  return { status: response.status, text: await response.text() };
}

async function post(replica: MockReplica, path: string, body: object): Promise<{ status: number; text: string }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(replica.url + path, init);
  return { status: response.status, text: await response.text() };
}

const idsOf = (text: string) => (JSON.parse(text) as { data: { id: string }[] }).data.map((card) => card.id);

describe("a mock replica", () => {
  test("responds with 503 while it loads, except on /health", async () => {
    const clock = new FakeClock();
    await withReplica({ loadingMs: 1000, clock }, async (replica) => {
      const statuses = async () => {
        const paths = [get(replica, "/health"), get(replica, "/v1/models"), post(replica, "/v1/completions", { prompt: "x" })];
        return (await Promise.all(paths)).map((answer) => answer.status);
      };
      assert.deepEqual(await statuses(), [200, 503, 503]);
      await clock.advance(1000);
      assert.deepEqual(await statuses(), [200, 200, 200]);
    });
  });

  test("refuses connections while it loads, when asked to", async () => {
    const clock = new FakeClock();
    await withReplica({ loadingMs: 1000, whileLoading: "refused", clock }, async (replica) => {
      await assert.rejects(openClient(replica.port), { code: "ECONNREFUSED" });
      await clock.advance(1000);
      // Listening again takes a turn or two of the event loop.
      let client = await openClient(replica.port).catch(() => undefined);
      for (let tries = 0; !client && tries < 100; tries++) client = await openClient(replica.port).catch(() => undefined);
      assert.ok(client);
      client.destroy();
      assert.equal((await get(replica, "/v1/models")).status, 200);
    });
  });

  test("closes an idle connection after its keep-alive time, but not a busy one", async () => {
    const clock = new FakeClock();
    await withReplica({ clock, faults: { hang: { value: true, on: "/v1/chat/completions" } } }, async (replica) => {
      const idle = await openClient(replica.port);
      const busy = await openClient(replica.port);
      idle.send(postBytes("/tokenize", '{"prompt":"x"}'));
      busy.send(postBytes("/v1/chat/completions", "{}"));
      await replica.seen.until((requests) => requests.length === 2 && requests.some((request) => request.outcome === "finished"));
      await clock.advance(4999);
      assert.equal(idle.isClosed, false);
      await clock.advance(1);
      await idle.closed();
      assert.equal(busy.isClosed, false);
      busy.destroy();
    });
  });

  test("loads an adapter from its folder at first use, and again after it was unloaded", async () => {
    await withReplica({ availableAdapters: ["lazy"] }, async (replica) => {
      const use = async () => (await post(replica, "/v1/completions", { model: "lazy", prompt: "x" })).status;
      assert.deepEqual(idsOf((await get(replica, "/v1/models")).text), ["m"]);
      assert.equal(await use(), 200);
      assert.deepEqual(idsOf((await get(replica, "/v1/models")).text), ["m", "lazy"]);
      assert.equal((await post(replica, "/v1/unload_lora_adapter", { lora_name: "lazy" })).status, 200);
      assert.deepEqual(idsOf((await get(replica, "/v1/models")).text), ["m"]);
      assert.equal(await use(), 200);
      const missing = await post(replica, "/v1/load_lora_adapter", { lora_name: "x", lora_path: "/adapters/nowhere" });
      assert.deepEqual([missing.status, missing.text.includes("No adapter found for <path>")], [404, true]);
    });
  });

  test("shows the engine's load in its metrics text", async () => {
    await withReplica({ timeScale: 1, adapters: ["a"], maxRunning: 1, kvTokens: 1600 }, async (replica) => {
      const body = JSON.stringify({ model: "a", prompt: "x", max_tokens: 1000, ignore_eos: true, stream: true });
      const clients = [await openClient(replica.port), await openClient(replica.port)];
      for (const client of clients) client.send(postBytes("/v1/completions", body));
      await replica.seen.until(() => replica.load.running === 1 && replica.load.waiting === 1);
      // Either of the two may have come first.
      await Promise.race(clients.map((client) => client.until((received) => received.includes("data: "))));
      const page = (await get(replica, "/metrics")).text;
      const labels = 'engine="0",model_name="m"';
      for (const line of [
        `vllm:num_requests_running{${labels}} 1.0`,
        `vllm:num_requests_waiting{${labels}} 1.0`,
        `vllm:num_requests_waiting_by_reason{${labels},reason="capacity"} 1.0`,
        `vllm:num_preemptions_total{${labels}} 0.0`,
        `vllm:prefix_cache_queries_total{${labels}} 1.0`,
        `vllm:time_to_first_token_seconds_count{${labels}} 1.0`,
      ]) {
        assert.ok(page.includes(`\n${line}\n`), line);
      }
      // The prompt, and the output up to now.
      assert.match(page, /^vllm:kv_cache_usage_perc\{.*\} 0\.0[1-9]$/m);
      assert.match(page, /^vllm:lora_requests_info\{max_lora="2",running_lora_adapters="a",waiting_lora_adapters="a"\} \d+/m);
      assert.match(
        page,
        /^vllm:cache_config_info\{block_size="16".*kv_cache_size_tokens="1600".*num_gpu_blocks="100".*\} 1\.0$/m,
      );
      for (const client of clients) client.destroy();
    });
  });

  test("has no token-id API if configured so", async () => {
    await withReplica({ hasGenerate: false }, async (replica) => {
      assert.equal((await post(replica, "/inference/v1/generate", { token_ids: [1], sampling_params: {} })).status, 403);
    });
  });

  test("counts images as prompt tokens, in both dialects", async () => {
    await withReplica({}, async (replica) => {
      const openai = { role: "user", content: [{ type: "image_url", image_url: { url: "http://x/1.png" } }] };
      const anthropic = { role: "user", content: [{ type: "image", source: { type: "url", url: "http://x/1.png" } }] };
      const chat = JSON.parse((await post(replica, "/v1/chat/completions", { messages: [openai] })).text) as {
        usage: { prompt_tokens: number };
      };
      const counted = await post(replica, "/v1/messages/count_tokens", { model: "m", messages: [anthropic] });
      assert.equal(chat.usage.prompt_tokens, (JSON.parse(counted.text) as { input_tokens: number }).input_tokens);
      assert.ok(chat.usage.prompt_tokens > 60);
    });
  });

  test("refuses a prompt that is too long for the model", async () => {
    await withReplica({ kvTokens: 64 }, async (replica) => {
      const answer = await post(replica, "/v1/completions", { prompt: "word ".repeat(200) });
      assert.deepEqual([answer.status, answer.text.includes("maximum context length")], [400, true]);
    });
  });

  test("does not start with an unknown fault", async () => {
    await assert.rejects(startMockReplica({ model: "m", faults: { nonsense: true } as never }), /no such fault/);
  });
});

test("a stream has several tokens in an event where the option says so: the first alone, the last with what is left", async () => {
  const textsOf = async (options: Partial<MockOptions>) => {
    let texts: readonly string[] = [];
    await withReplica(options, async (replica) => {
      const { text } = await post(replica, "/v1/completions", { prompt: "hello", stream: true, max_tokens: 12 });
      const events = parseSse(text).filter(({ data }) => data !== "[DONE]");
      texts = events.map(({ data }) => (JSON.parse(data) as { choices: [{ text: string }] }).choices[0].text);
    });
    return texts;
  };
  const each = await textsOf({});
  assert.equal(each.length, 12);
  const spans = [[0, 1] as const, [1, 6] as const, [6, 11] as const, [11, 12] as const];
  const together = spans.map(([from, to]) => each.slice(from, to).join(""));
  assert.deepEqual(await textsOf({ streamInterval: 5 }), together);
});
