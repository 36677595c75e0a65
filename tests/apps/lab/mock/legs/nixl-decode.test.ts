import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { type MockPair, metricOf, postJson, prefilled, withPair } from "../../../../support/mock-pair.ts";
import { openClient, postBytes } from "../../../../support/raw-client.ts";
import { parseSse } from "../../../../support/sse-events.ts";

const PROMPT = "word ".repeat(201).trim();
const BODY = { prompt: PROMPT, max_tokens: 4 };
const PATH = "/v1/completions";

const decodeLeg = (pair: MockPair, params: object, more: object = {}) =>
  postJson(pair.decode.url + PATH, { ...BODY, ...more, kv_transfer_params: params });

interface Answer {
  readonly choices: readonly { readonly text: string }[];
  readonly usage: { readonly prompt_tokens: number; readonly prompt_tokens_details: { readonly cached_tokens: number } };
}

const answerIn = (text: string) => JSON.parse(text) as Answer;
const cachedIn = (text: string) => answerIn(text).usage.prompt_tokens_details.cached_tokens;

/** Moves the clock on until something has happened. */
async function advanceUntil<T>(clock: FakeClock, stepMs: number, result: Promise<T>): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  result.then(end, end);
  while (!isOver) {
    await clock.advance(stepMs);
    // Sockets take real time, and limits count the clock's: it must not run away from them.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return result;
}

describe("a decode leg with NIXL", () => {
  test("has the text of one replica, calls nothing cached, and knows the prompt afterwards", async () => {
    await withPair({}, async (pair) => {
      const alone = answerIn((await postJson(pair.prefill.url + PATH, { ...BODY, prompt: `${PROMPT} 2` })).text);
      const params = await prefilled(pair, PATH, { prompt: `${PROMPT} 1`, max_tokens: 1 });
      const second = await prefilled(pair, PATH, { prompt: `${PROMPT} 2`, max_tokens: 1 });
      const first = await decodeLeg(pair, params, { prompt: `${PROMPT} 1` });
      assert.equal(cachedIn(first.text), params["remote_prefill_cached_tokens"]);
      // What the prefill replica had cached is called cached, whatever the decode replica had.
      assert.ok((second["remote_prefill_cached_tokens"] as number) >= 192);
      const answer = await decodeLeg(pair, second, { prompt: `${PROMPT} 2` });
      assert.equal(answerIn(answer.text).choices[0]?.text, alone.choices[0]?.text);
      assert.equal(cachedIn(answer.text), second["remote_prefill_cached_tokens"]);
      const again = await postJson(pair.decode.url + PATH, { ...BODY, prompt: `${PROMPT} 1` });
      assert.equal(cachedIn(again.text), 192);
    });
  });

  test("counts its tokens by source, and fetches only what it has not", async () => {
    await withPair({}, async (pair) => {
      const bySource = async () =>
        Promise.all(
          ["local_compute", "local_cache_hit", "external_kv_transfer"].map((source) =>
            metricOf(pair.decode, "prompt_tokens_by_source_total", source),
          ),
        );
      assert.equal(cachedIn((await decodeLeg(pair, await prefilled(pair, PATH, BODY))).text), 0);
      assert.deepEqual(await bySource(), [0, 0, 201]);
      assert.deepEqual(
        [
          await metricOf(pair.decode, "external_prefix_cache_queries_total"),
          await metricOf(pair.decode, "external_prefix_cache_hits_total"),
        ],
        [201, 201],
      );
      assert.equal(await metricOf(pair.decode, "prefix_cache_hits_total"), 0);
      await decodeLeg(pair, await prefilled(pair, PATH, BODY));
      assert.deepEqual(await bySource(), [0, 192, 210]);
      assert.equal(await metricOf(pair.decode, "nixl_xfer_time_seconds_count"), 2);
    });
  });

  test("streams, from several prompts and samples too", async () => {
    await withPair({}, async (pair) => {
      const body = { prompt: [PROMPT, "another"], n: 2, max_tokens: 3 };
      const params = await prefilled(pair, PATH, body);
      const answer = await decodeLeg(pair, params, { ...body, stream: true, stream_options: { include_usage: true } });
      const events = parseSse(answer.text);
      assert.equal(events.at(-1)?.data, "[DONE]");
      assert.equal(answerIn(events.at(-2)?.data ?? "").usage.prompt_tokens, 203);
      assert.equal(pair.prefill.transfers.held.count, 0);
    });
  });

  test("takes the transfer's time, and the handshake's the first time", async () => {
    const clock = new FakeClock();
    const times = { transferTokensPerS: 201, transferMs: 40, handshakeMs: 7000 };
    const prefill = { clock, timeScale: 1, prefillTokensPerS: 1e9, decodeStepMs: 0, decodePerRequestMs: 0 };
    await withPair({ prefill, decode: { ...prefill, ...times } }, async (pair) => {
      for (const expectedMs of [8040, 1040]) {
        const body = { prompt: `${expectedMs} ${PROMPT.slice(0, -5)}`, max_tokens: 1 };
        const params = await advanceUntil(clock, 1, prefilled(pair, PATH, body));
        const startedMs = clock.now();
        await advanceUntil(clock, 20, decodeLeg(pair, params, body));
        // Beyond it, only what the sockets take while the clock goes on.
        assert.ok(clock.now() - startedMs >= expectedMs, `${clock.now() - startedMs} ms`);
      }
      assert.equal(pair.decode.transfers.transferS.count, 2);
      assert.ok(pair.decode.transfers.transferS.sum < 7);
    });
  });

  const REFUSED = [
    { what: "a request that nobody promised", params: { remote_request_id: "x" }, more: {}, says: /no prefill leg/ },
    { what: "an engine that is not there", params: { remote_engine_id: "x" }, more: {}, says: /engine x is not here/ },
    { what: "another prompt", params: {}, more: { prompt: "other" }, says: /another prompt/ },
    { what: "another salt", params: {}, more: { cache_salt: "s" }, says: /another prompt, model or salt/ },
    { what: "no engine", params: { remote_engine_id: null }, more: {}, says: /no remote_engine_id/ },
    { what: "no port", params: { remote_port: "80" }, more: {}, says: /no remote_port/ },
  ];
  for (const { what, params, more, says } of REFUSED) {
    test(`is refused with 400 for ${what}`, async () => {
      await withPair({}, async (pair) => {
        const answer = await decodeLeg(pair, { ...(await prefilled(pair, PATH, BODY)), ...params }, { stream: true, ...more });
        assert.equal(answer.status, 400);
        assert.match(answer.text, says);
      });
    });
  }

  test("is refused with 400 for blocks that were fetched already, or parameters of no object", async () => {
    await withPair({}, async (pair) => {
      const params = await prefilled(pair, PATH, BODY);
      assert.equal((await decodeLeg(pair, params)).status, 200);
      const again = await decodeLeg(pair, params);
      assert.equal(again.status, 400);
      assert.match(again.text, /fetched already/);
      assert.equal((await postJson(pair.decode.url + PATH, { ...BODY, kv_transfer_params: "x" })).status, 400);
      assert.equal((await postJson(pair.prefill.url + PATH, { ...BODY, kv_transfer_params: params })).status, 400);
      assert.equal(await prefilled({ ...pair, prefill: pair.decode }, PATH, BODY), undefined);
    });
  });

  test("as vLLM's, takes parameters twice or for another prompt, and finds nothing wrong", async () => {
    await withPair({ decode: { transferCheck: "vllm" } }, async (pair) => {
      const params = await prefilled(pair, PATH, BODY);
      for (const prompt of [PROMPT, PROMPT, "other"]) assert.equal((await decodeLeg(pair, params, { prompt })).status, 200);
      assert.equal(pair.prefill.transfers.held.totals.fetched, 1);
      const unknown = await decodeLeg(pair, { ...params, remote_engine_id: "x" });
      assert.equal(unknown.status, 500);
      assert.match(unknown.text, /Internal server error/);
      assert.equal(await metricOf(pair.decode, "nixl_num_failed_transfers_total"), 1);
    });
  });

  test("of a prefill replica that is gone fails with 500 after its time, and in a stream with its last event", async () => {
    const clock = new FakeClock();
    const faults = { dieAfterPrefill: true } as const;
    await withPair({ prefill: { faults }, decode: { clock, timeScale: 1 } }, async (pair) => {
      const params = await prefilled(pair, PATH, BODY);
      await pair.prefill.seen.until(() => pair.prefill.transfers.held.count === 0);
      const startedMs = clock.now();
      const whole = await advanceUntil(clock, 100, decodeLeg(pair, params));
      assert.equal(whole.status, 500);
      assert.ok(clock.now() - startedMs >= 5000);
      const streamed = await advanceUntil(clock, 100, decodeLeg(pair, params, { stream: true }));
      assert.equal(streamed.status, 200);
      const [error, done] = parseSse(streamed.text);
      assert.deepEqual(JSON.parse(error?.data ?? ""), {
        error: { message: "Internal server error", type: "InternalServerError", param: null, code: 500 },
      });
      assert.equal(done?.data, "[DONE]");
      assert.equal(pair.decode.transfers.failed, 2);
      assert.equal(pair.decode.load.kvUsage, 0);
    });
  });

  const STREAMS = [
    { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: PROMPT }] }, events: ["", "", ""] },
    {
      path: "/v1/messages",
      body: { model: "m", max_tokens: 4, messages: [{ role: "user", content: PROMPT }] },
      events: ["message_start", "error"],
    },
    { path: "/v1/responses", body: { input: PROMPT }, events: undefined },
  ];
  for (const { path, body, events } of STREAMS) {
    test(`${path}: a stream whose transfer fails ends as vLLM's`, async () => {
      await withPair({}, async (pair) => {
        const params = await prefilled(pair, path, body);
        await pair.prefill.close();
        const answer = postJson(pair.decode.url + path, { ...body, stream: true, kv_transfer_params: params });
        if (events === undefined) return assert.rejects(answer);
        const { status, text } = await answer;
        assert.equal(status, 200);
        assert.deepEqual(
          parseSse(text).map(({ name }) => name),
          events,
        );
        assert.match(text, /Internal server error/);
      });
    });
  }

  test("fails at once when the prefill replica dies during the transfer", async () => {
    await withPair({ decode: { faults: { slowTransferMs: 60_000 } } }, async (pair) => {
      const params = await prefilled(pair, PATH, BODY);
      const answer = decodeLeg(pair, params);
      await pair.prefill.seen.until(() => pair.prefill.transfers.held.reading === 1);
      assert.equal(await metricOf(pair.decode, "num_requests_waiting_by_reason", "deferred"), 1);
      await pair.prefill.close();
      assert.equal((await answer).status, 500);
      assert.equal(pair.decode.load.kvUsage, 0);
    });
  });

  test("a replica that died after its leg comes back as another engine", async () => {
    await withPair({ prefill: { faults: { dieAfterPrefill: { value: 1, times: 1 } } } }, async (pair) => {
      const params = await prefilled(pair, PATH, BODY);
      let answer = await decodeLeg(pair, params);
      for (let tries = 0; answer.status === 500 && tries < 500; tries++) answer = await decodeLeg(pair, params);
      assert.equal(answer.status, 400);
      assert.match(answer.text, /is not here/);
      assert.equal((await decodeLeg(pair, await prefilled(pair, PATH, BODY))).status, 200);
    });
  });

  test("a prefill replica that dies cuts the transfers under way", async () => {
    await withPair({ decode: { faults: { slowTransferMs: { value: 1e10, times: 1 } } } }, async (pair) => {
      const cut = decodeLeg(pair, await prefilled(pair, PATH, BODY));
      await pair.prefill.seen.until(() => pair.prefill.transfers.held.reading === 1);
      await pair.prefill.faults.set("dieAfterPrefill", true);
      await prefilled(pair, PATH, { ...BODY, prompt: "another" });
      assert.equal((await cut).status, 500);
      assert.equal(pair.prefill.load.kvUsage, 0);
    });
  });

  test("a decode replica that dies during its transfer leaves the blocks to their time", async () => {
    const clock = new FakeClock();
    await withPair({ prefill: { clock }, decode: { faults: { slowTransferMs: 1000 } } }, async (pair) => {
      const cut = decodeLeg(pair, await prefilled(pair, PATH, BODY)).catch(() => {});
      await pair.prefill.seen.until(() => pair.prefill.transfers.held.reading === 1);
      await pair.decode.close();
      await cut;
      await pair.prefill.seen.until(() => pair.prefill.transfers.held.reading === 0);
      assert.equal(pair.prefill.transfers.held.count, 1);
      await clock.advance(30_000);
      assert.deepEqual(pair.prefill.transfers.held.totals, { held: 1, fetched: 0, expired: 1 });
    });
  });

  test("the faults of decode strike its legs only", async () => {
    const faults = { refuseTransfer: { value: { status: 503, retryAfterS: 1 }, times: 1 } };
    await withPair({ decode: { faults } }, async (pair) => {
      assert.equal((await postJson(pair.decode.url + PATH, BODY)).status, 200);
      const params = await prefilled(pair, PATH, BODY);
      assert.equal((await decodeLeg(pair, params)).status, 503);
      assert.equal((await decodeLeg(pair, params)).status, 200);
    });
  });

  test("whose client leaves has the blocks freed on the other side", async () => {
    await withPair({ decode: { faults: { slowTransferMs: 30 }, timeScale: 0.1, handshakeMs: 300 } }, async (pair) => {
      for (const _ of ["during the handshake", "and later"]) {
        const params = await prefilled(pair, PATH, BODY);
        const client = await openClient(pair.decode.port);
        client.send(postBytes(PATH, JSON.stringify({ ...BODY, stream: true, kv_transfer_params: params })));
        await client.until((received) => received.includes("200 OK"));
        client.destroy();
        await pair.prefill.seen.until(() => pair.prefill.transfers.held.count === 0);
      }
      assert.equal(pair.prefill.transfers.held.totals.expired, 0);
      await pair.decode.seen.until(() => pair.decode.load.kvUsage === 0 && pair.decode.load.running === 0);
    });
  });

  test("waits for room in its cache", async () => {
    await withPair({ decode: { kvTokens: 256, timeScale: 0.02, faults: { slowTransferMs: 20 } } }, async (pair) => {
      const prompts = ["a", "b", "c", "d"].map((letter) => `${letter} ${PROMPT}`);
      const all = await Promise.all(
        prompts.map(async (prompt) => decodeLeg(pair, await prefilled(pair, PATH, { ...BODY, prompt }), { prompt })),
      );
      assert.deepEqual(
        all.map(({ status }) => status),
        [200, 200, 200, 200],
      );
      assert.equal(pair.decode.load.kvUsage, 0);
    });
  });
});
