import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { metricOf, PREFILL_LEG, postJson, prefilled, withPair } from "../../../../support/mock-pair.ts";

const words = (count: number) => "word ".repeat(count).trim();
/** 201 tokens: 12 full blocks of 16 and a rest. */
const PROMPT = words(201);

const APIS = [
  { path: "/v1/completions", body: { prompt: PROMPT, max_tokens: 1 } },
  { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: PROMPT }], max_tokens: 1 } },
  { path: "/v1/responses", body: { input: PROMPT, max_output_tokens: 1 } },
  { path: "/v1/messages", body: { model: "m", messages: [{ role: "user", content: PROMPT }], max_tokens: 1 } },
  {
    path: "/inference/v1/generate",
    body: { token_ids: Array.from({ length: 201 }, (_, id) => id + 1), sampling_params: { max_tokens: 1 } },
  },
];

describe("a prefill leg with NIXL", () => {
  for (const { path, body } of APIS) {
    test(`${path}: the response says where the blocks are, and the decode leg has them`, async () => {
      await withPair({}, async (pair) => {
        const params = await prefilled(pair, path, body);
        const tokens = params["remote_num_tokens"] as number;
        assert.ok(tokens >= 201);
        const blocks = (params["remote_block_ids"] as number[][])[0];
        assert.equal(blocks?.length, Math.ceil(tokens / 16));
        const told = { ...params, remote_block_ids: "", remote_engine_id: "", remote_request_id: "" };
        assert.deepEqual(told, {
          do_remote_prefill: true,
          do_remote_decode: false,
          remote_block_ids: "",
          remote_engine_id: "",
          remote_request_id: "",
          remote_host: "127.0.0.1",
          remote_port: pair.prefill.port,
          tp_size: 1,
          dcp_size: 1,
          pp_size: 1,
          remote_num_tokens: tokens,
          remote_blocks_expiry_time: null,
          transfer_mode: "pull",
          remote_prefill_cached_tokens: 0,
        });
        const decoded = await postJson(pair.decode.url + path, { ...body, kv_transfer_params: params });
        assert.equal(decoded.status, 200);
        assert.equal(decoded.body["kv_transfer_params"] ?? null, null);
        assert.equal(await metricOf(pair.decode, "prompt_tokens_by_source_total", "external_kv_transfer"), tokens);
      });
    });
  }

  test("without a transfer, or with its parameters for something else, a replica holds nothing", async () => {
    await withPair({ prefill: { role: "both", transfer: "none" }, decode: {} }, async ({ prefill, decode }) => {
      const body = { prompt: PROMPT, max_tokens: 1, kv_transfer_params: PREFILL_LEG };
      const { body: answer } = await postJson(`${prefill.url}/v1/completions`, body);
      assert.equal(answer["kv_transfer_params"], null);
      const plain = await postJson(`${decode.url}/v1/completions`, { prompt: PROMPT, kv_transfer_params: null });
      assert.equal(plain.status, 200);
      assert.equal(plain.body["kv_transfer_params"], null);
      assert.equal(prefill.transfers.held.count + decode.transfers.held.count, 0);
    });
  });

  test("holds its blocks in the cache until they are fetched", async () => {
    await withPair({ prefill: { kvTokens: 640 } }, async (pair) => {
      const params = await prefilled(pair, "/v1/completions", { prompt: PROMPT, max_tokens: 1 });
      assert.deepEqual([pair.prefill.transfers.held.count, pair.prefill.transfers.held.blocks], [1, 13]);
      assert.equal(pair.prefill.load.kvUsage, 13 / 40);
      await postJson(`${pair.decode.url}/v1/completions`, { prompt: PROMPT, max_tokens: 3, kv_transfer_params: params });
      assert.equal(pair.prefill.load.kvUsage, 0);
      assert.deepEqual(pair.prefill.transfers.held.totals, { held: 1, fetched: 1, expired: 0 });
      const facts = (await (await fetch(`${pair.prefill.url}/mock/transfers`)).json()) as Record<string, unknown>;
      assert.equal(facts["fetched"], 1);
      assert.equal(facts["engineId"], params["remote_engine_id"]);
    });
  });

  test("holds them no longer than its time, and then they are gone", async () => {
    const clock = new FakeClock();
    await withPair({ prefill: { holdMs: 480_000, clock } }, async (pair) => {
      const body = { prompt: PROMPT, max_tokens: 1 };
      const params = await prefilled(pair, "/v1/completions", body);
      await clock.advance(479_999);
      assert.equal(pair.prefill.transfers.held.count, 1);
      await clock.advance(1);
      assert.equal(pair.prefill.transfers.held.count, 0);
      assert.equal(pair.prefill.load.kvUsage, 0);
      assert.equal(await metricOf(pair.prefill, "nixl_num_kv_expired_reqs_total"), 1);
      const late = await postJson(`${pair.decode.url}/v1/completions`, { ...body, kv_transfer_params: params });
      assert.equal(late.status, 400);
      assert.match(late.text, /held too long/);
    });
  });

  test("a cache full of held blocks lets others wait until one is free", async () => {
    await withPair({ prefill: { kvTokens: 256 } }, async (pair) => {
      const params = await prefilled(pair, "/v1/completions", { prompt: PROMPT, max_tokens: 1 });
      const other = postJson(`${pair.prefill.url}/v1/completions`, { prompt: `other ${PROMPT}`, max_tokens: 1 });
      await pair.prefill.seen.until(() => pair.prefill.load.waiting === 1);
      await postJson(`${pair.decode.url}/v1/completions`, { prompt: PROMPT, max_tokens: 1, kv_transfer_params: params });
      assert.equal((await other).status, 200);
    });
  });

  test("the fault noTransferParams leaves them out, and holds nothing", async () => {
    await withPair({ prefill: { faults: { noTransferParams: { value: true, times: 1 } } } }, async (pair) => {
      const body = { prompt: PROMPT, max_tokens: 1 };
      // Another request doesn't use the fault up.
      await postJson(`${pair.prefill.url}/v1/completions`, body);
      assert.equal(await prefilled(pair, "/v1/completions", body), null);
      assert.equal(pair.prefill.transfers.held.count, 0);
      assert.ok(await prefilled(pair, "/v1/completions", body));
    });
  });
});
