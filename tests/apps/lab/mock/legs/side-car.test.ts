import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MockOptions } from "../../../../../apps/lab/mock/options.ts";
import { type MockPair, postJson, withPair } from "../../../../support/mock-pair.ts";
import { openClient, postBytes } from "../../../../support/raw-client.ts";
import { parseSse } from "../../../../support/sse-events.ts";

const PROMPT = "word ".repeat(201).trim();
const PATH = "/v1/chat/completions";
const BODY = { messages: [{ role: "user", content: PROMPT }], max_tokens: 4 };

const withSideCar = (prefill: Partial<MockOptions>, use: (pair: MockPair) => Promise<void>) =>
  withPair({ prefill, decode: { transfer: "side-car" } }, use);

const prefiller = (port: number) => ({ "x-prefiller-host-port": `127.0.0.1:${port}` });

describe("a decode replica behind a side-car", () => {
  const APIS = [
    { path: "/v1/completions", body: { prompt: PROMPT, max_tokens: 4 } },
    { path: PATH, body: { ...BODY, max_completion_tokens: 4, stream: true, stream_options: { include_usage: true } } },
    { path: "/v1/responses", body: { input: PROMPT, max_output_tokens: 4 } },
    { path: "/v1/messages", body: { model: "m", messages: BODY.messages, max_tokens: 4 } },
    { path: "/inference/v1/generate", body: { token_ids: [1, 2, 3], sampling_params: { max_tokens: 4 } } },
  ];
  for (const { path, body } of APIS) {
    test(`${path}: has the named replica prefill, and answers with what it decodes itself`, async () => {
      await withSideCar({}, async (pair) => {
        const headers = { ...prefiller(pair.prefill.port), "x-request-id": "abc" };
        const answer = await postJson(pair.decode.url + path, body, headers);
        assert.equal(answer.status, 200);
        if ("stream" in body) assert.equal(parseSse(answer.text).at(-1)?.data, "[DONE]");
        const leg = pair.prefill.seen.last(path);
        const sent = JSON.parse(leg?.body.toString() ?? "") as Record<string, unknown>;
        assert.equal(sent["stream"], false);
        assert.equal("stream_options" in sent, false);
        assert.equal((sent["kv_transfer_params"] as Record<string, unknown>)["do_remote_decode"], true);
        const sampling = (sent["sampling_params"] ?? sent) as Record<string, unknown>;
        const limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"].map((name) => sampling[name] ?? 1);
        assert.deepEqual(limits, [1, 1, 1]);
        assert.ok(leg?.headers.some(([name, value]) => name === "x-request-id" && value === "abc"));
        assert.deepEqual(pair.prefill.transfers.held.totals, { held: 1, fetched: 1, expired: 0 });
      });
    });
  }

  test("does all itself without the header", async () => {
    await withSideCar({}, async (pair) => {
      assert.equal((await postJson(pair.decode.url + PATH, BODY)).status, 200);
      assert.equal(pair.prefill.seen.requests.length, 0);
    });
  });

  const ALONE = [
    { what: "answers with 500", faults: { status: 500 } },
    { what: "resets the connection", faults: { reset: true } },
    { what: "dies inside its response", faults: { dieInsideEvent: 0 } },
    { what: "refuses connections", faults: { refuse: true } },
    { what: "says nothing of a transfer", faults: { noTransferParams: true } },
  ] as const;
  for (const { what, faults } of ALONE) {
    test(`decodes alone when the prefill replica ${what}`, async () => {
      await withSideCar({ faults }, async (pair) => {
        const answer = await postJson(pair.decode.url + PATH, BODY, prefiller(pair.prefill.port));
        assert.equal(answer.status, 200);
        assert.equal(pair.decode.load.kvUsage, 0);
      });
    });
  }

  test("passes on a 4xx of the prefill replica", async () => {
    await withSideCar({ faults: { status: { status: 429, body: { error: "full" } } } }, async (pair) => {
      const answer = await postJson(pair.decode.url + PATH, BODY, prefiller(pair.prefill.port));
      assert.deepEqual([answer.status, answer.body], [429, { error: "full" }]);
    });
  });

  test("fails as NIXL does when the prefill replica dies after its leg", async () => {
    const decode = { transfer: "side-car", faults: { slowTransferMs: 60_000 } } as const;
    await withPair({ decode }, async (pair) => {
      const answer = postJson(pair.decode.url + PATH, BODY, prefiller(pair.prefill.port));
      await pair.prefill.seen.until(() => pair.prefill.transfers.held.reading === 1);
      await pair.prefill.close();
      assert.equal((await answer).status, 500);
    });
  });

  test("says what is wrong with the header", async () => {
    await withSideCar({}, async ({ decode }) => {
      for (const value of ["nonsense", "host:", "http://h:1", "h:70000"]) {
        const answer = await postJson(decode.url + PATH, BODY, { "x-prefiller-host-port": value });
        assert.equal(answer.status, 400);
        assert.match(answer.text, /HOST:PORT/);
      }
    });
  });

  test("ends the prefill leg of a client that leaves", async () => {
    await withSideCar({ faults: { hang: true } }, async (pair) => {
      const client = await openClient(pair.decode.port);
      const [head, body] = postBytes(PATH, JSON.stringify(BODY)).split("\r\n\r\n");
      client.send(`${head}\r\nx-prefiller-host-port: 127.0.0.1:${pair.prefill.port}\r\n\r\n${body}`);
      await pair.prefill.seen.until((requests) => requests.length === 1);
      client.destroy();
      await pair.prefill.seen.until(([leg]) => leg?.outcome === "aborted");
    });
  });
});
