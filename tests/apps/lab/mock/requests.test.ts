import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { MockReplica } from "../../../../apps/lab/mock/replica.ts";
import { startMockReplica } from "../../../../apps/lab/mock/replica.ts";
import { openClient, postBytes } from "../../../support/raw-client.ts";
import { parseSse } from "../../../support/sse-events.ts";

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

describe("requests that a mock replica has received", () => {
  let replica: MockReplica;
  before(async () => {
    replica = await startMockReplica({ model: "m", timeScale: 0, seenLimit: 3 });
  });
  after(() => replica.close());

  test("method, path, headers and body, byte for byte", async () => {
    const body = '{ "model":"m",  "prompt":"Zürich 🚦", "n":1.0 }';
    await (await post(replica.url, "/v1/completions?x=1", body, { "X-Trace": "7" })).text();
    const seen = replica.seen.last("/v1/completions");
    assert.equal(seen?.method, "POST");
    assert.equal(seen?.body.toString("utf8"), body);
    assert.ok(seen?.headers.some(([name, value]) => name.toLowerCase() === "x-trace" && value === "7"));
    await replica.seen.until((requests) => requests.at(-1)?.outcome === "finished");
  });

  test("connection numbers, and a limited number of requests", async () => {
    const client = await openClient(replica.port);
    for (let turn = 1; turn <= 4; turn++) {
      client.send(postBytes("/tokenize", `{"prompt":"${turn}"}`));
      await client.until((received) => received.split("token_strs").length === turn + 1);
    }
    client.destroy();
    assert.equal(replica.seen.requests.length, 3);
    assert.equal(new Set(replica.seen.requests.map((request) => request.connection)).size, 1);
  });

  test("over HTTP, for another process", async () => {
    replica.seen.clear();
    await (await post(replica.url, "/v1/completions", { prompt: "hello" })).text();
    const { requests } = (await json(await fetch(`${replica.url}/mock/seen`))) as { requests: { body: string; path: string }[] };
    assert.deepEqual(
      requests.map((request) => [request.path, Buffer.from(request.body, "base64").toString()]),
      [["/v1/completions", '{"prompt":"hello"}']],
    );
    await (await fetch(`${replica.url}/mock/seen`, { method: "DELETE" })).text();
    assert.equal(replica.seen.requests.length, 0);
  });
});

test("a key is wanted under /v1, and nowhere else, as in vLLM", async () => {
  const replica = await startMockReplica({ model: "m", timeScale: 0, apiKey: "k" });
  const statusOf = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(replica.url + path, { headers });
    const text = await response.text();
    return response.status === 401 ? text : response.status;
  };
  assert.equal(await statusOf("/v1/models"), '{"error":"Unauthorized"}');
  assert.equal(await statusOf("/v1/models", { authorization: "Bearer wrong" }), '{"error":"Unauthorized"}');
  assert.equal(await statusOf("/v1/models", { authorization: "Bearer k" }), 200);
  assert.equal(await statusOf("/health"), 200);
  await replica.close();
});

describe("a client that leaves", () => {
  let replica: MockReplica;
  before(async () => {
    replica = await startMockReplica({ model: "m" });
  });
  after(() => replica.close());

  const LEAVES = [
    { name: "a stream, by closing", isStream: true, leave: "destroy" },
    { name: "a stream, by half-closing", isStream: true, leave: "end" },
    { name: "before the response", isStream: false, leave: "destroy" },
  ] as const;
  for (const { name, isStream, leave } of LEAVES) {
    test(`${name}: the generation is aborted`, async () => {
      replica.seen.clear();
      const client = await openClient(replica.port);
      const body = { model: "m", prompt: "hello", max_tokens: 100_000, ignore_eos: true, stream: isStream };
      client.send(postBytes("/v1/completions", JSON.stringify(body)));
      if (isStream) await client.until((received) => received.includes("data: "));
      else await replica.seen.until(() => replica.load.running > 0);
      client.socket[leave]();
      await replica.seen.until((requests) => requests.at(-1)?.outcome === "aborted");
      assert.equal(replica.load.running, 0);
      client.destroy();
    });
  }

  test("in the middle of its request body", async () => {
    replica.seen.clear();
    const client = await openClient(replica.port);
    client.send("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    await replica.seen.until((requests) => requests.length === 1);
    client.destroy();
    await replica.seen.until((requests) => requests[0]?.outcome === "aborted");
  });
});

describe("the text of an output", () => {
  let plain: MockReplica;
  let echo: MockReplica;
  before(async () => {
    plain = await startMockReplica({ model: "m", adapters: ["a"], timeScale: 0, replyTokens: 20 });
    echo = await startMockReplica({ model: "m", timeScale: 0, isEcho: true });
  });
  after(async () => {
    await plain.close();
    await echo.close();
  });

  async function textOf(body: object): Promise<string> {
    const answer = await json(await post(plain.url, "/v1/completions", { prompt: "hello", max_tokens: 8, ...body }));
    return (answer["choices"] as { text: string }[])[0]?.text ?? "";
  }

  test("depends on prompt, model and seed, and on nothing else", async () => {
    const text = await textOf({});
    assert.equal(await textOf({ user: "someone" }), text);
    for (const other of [{ prompt: "hullo" }, { model: "a" }, { seed: 2 }]) assert.notEqual(await textOf(other), text);
  });

  test("is the same in a stream, whose first piece can be wider than ASCII", async () => {
    const events = parseSse(
      await (await post(plain.url, "/v1/completions", { prompt: "hello", max_tokens: 8, stream: true })).text(),
    );
    const pieces = events.slice(0, -1).map(({ data }) => (JSON.parse(data) as { choices: { text: string }[] }).choices[0]?.text);
    assert.equal(pieces.join(""), await textOf({}));
  });

  const LENGTHS = [
    { body: { max_tokens: 8 }, wanted: [8, "length"] },
    { body: { max_tokens: 50 }, wanted: [20, "stop"] },
    { body: { max_tokens: 50, ignore_eos: true }, wanted: [50, "length"] },
    { body: { max_tokens: 50, min_tokens: 30 }, wanted: [30, "stop"] },
    { body: { max_tokens: undefined }, wanted: [16, "length"] },
  ];
  for (const { body, wanted } of LENGTHS) {
    test(`${JSON.stringify(body)} gives ${wanted.join(" tokens, ")}`, async () => {
      const answer = await json(await post(plain.url, "/v1/completions", { prompt: "hello", ...body }));
      const [choice] = answer["choices"] as { finish_reason: string }[];
      assert.deepEqual([(answer["usage"] as { completion_tokens: number }).completion_tokens, choice?.finish_reason], wanted);
    });
  }

  test("with echo is the request, as text or as bytes", async () => {
    const body = '{"model":"m","prompt":"Zürich"}';
    const answer = await json(await post(echo.url, "/v1/completions", body, { "x-trace": "7" }));
    const told = JSON.parse((answer["choices"] as { text: string }[])[0]?.text ?? "") as {
      path: string;
      body: string;
      headers: string[][];
    };
    assert.deepEqual([told.path, told.body], ["/v1/completions", body]);
    assert.ok(told.headers.some(([name, value]) => name?.toLowerCase() === "x-trace" && value === "7"));
    const ids = await json(await post(echo.url, "/inference/v1/generate", { token_ids: [1], sampling_params: {} }));
    const bytes = Buffer.from((ids["choices"] as { token_ids: number[] }[])[0]?.token_ids ?? []);
    assert.equal((JSON.parse(bytes.toString()) as { path: string }).path, "/inference/v1/generate");
  });
});
