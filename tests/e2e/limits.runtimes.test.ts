import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { exchange, isWholeAnswer, openClient, postBytes, type RawClient, readAnswer } from "../support/raw-client.ts";
import { outstanding, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { chunkOf, jsonAnswer, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = "/v1/chat/completions";
const BODY = '{"model":"m","messages":[]}';
const LIMIT_MS = 150;
/** A limit is met up to one sweep late; the rest is for a busy machine. Silence for longer than this is a failure. */
const WITHIN_MS = 10_000;

let replica: ScriptedReplica;
let router: TestRouter;
/** What the replica does with the next request. */
let behaviour: "answer" | "hang" | "stream-then-silence" | "flood" | "say" = "answer";
/** What it says when told to, before it falls silent. */
let said = "";

before(async () => {
  replica = await startScriptedReplica((_request, socket) => {
    if (behaviour === "answer") socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}'));
    if (behaviour === "stream-then-silence") socket.write(STREAM_HEAD + chunkOf("data: {}\n\n"));
    if (behaviour === "flood") flood(socket);
    if (behaviour === "say") socket.write(said);
  });
  router = await startTestRouter([replica.url], {
    spec: `  limits:
    headTimeoutMs: ${LIMIT_MS}
    bodyTimeoutMs: ${LIMIT_MS}
    idleTimeoutMs: ${LIMIT_MS}
    writeTimeoutMs: ${LIMIT_MS}
    responseTimeoutMs: ${LIMIT_MS}
    streamIdleTimeoutMs: ${LIMIT_MS}
    upstreamIdleTimeoutMs: ${LIMIT_MS}
    bodyBytes: 500000`,
  });
});
after(async () => {
  await router.close();
  await replica.close();
});

describe("a connection that stops at some state ends within that state's limit", () => {
  const states: readonly { name: string; replica?: typeof behaviour; sent: string; status?: number; isReading?: boolean }[] = [
    { name: "nothing sent", sent: "", status: 0 },
    { name: "one byte of the request line", sent: "P", status: 408 },
    { name: "half a head", sent: `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-`, status: 408 },
    { name: "head without its last line feed", sent: `POST ${CHAT} HTTP/1.1\r\nHost: x\r\n\r`, status: 408 },
    { name: "head without body", sent: postBytes(CHAT, BODY).slice(0, -BODY.length), status: 408 },
    { name: "half a body", sent: postBytes(CHAT, BODY).slice(0, -5), status: 408 },
    { name: "half a chunk", sent: `${chunkedHead()}10\r\n{`, status: 408 },
    { name: "chunked body without its end", sent: `${chunkedHead()}${chunkOf(BODY)}`, status: 408 },
    { name: "idle after an answer", sent: postBytes(CHAT, BODY), status: 200 },
    { name: "answer that never comes", replica: "hang", sent: postBytes(CHAT, BODY), status: 504 },
    { name: "stream that goes silent", replica: "stream-then-silence", sent: postBytes(CHAT, BODY), status: 200 },
    { name: "answer that the client does not read", replica: "flood", sent: postBytes(CHAT, BODY), isReading: false },
    { name: "refused while the body was still coming", sent: postBytes("/nope", BODY).slice(0, -5), status: 404 },
  ];
  for (const state of states) {
    it(state.name, { timeout: WITHIN_MS }, async () => {
      behaviour = state.replica ?? "answer";
      const client = await openClient(router.port);
      if (state.isReading === false) client.socket.pause();
      client.send(state.sent);
      if (state.isReading === false) await serverLetsGo(client);
      const received = await client.closed();
      // A reset may take what was received and not yet read with it.
      if (state.isReading !== false) assert.equal(readStatus(received), state.status, received.slice(0, 200));
      await waitUntil(() => outstanding(router.router).inFlight === 0);
      assert.deepEqual(outstanding(router.router), { inFlight: 0, prefillTokens: 0 });
    });
  }
});

describe("a connection to a replica that stops at some state ends within that state's limit", () => {
  const states: readonly { readonly name: string; readonly said: string; readonly status: number; readonly isWhole?: boolean }[] =
    [
      { name: "nothing said", said: "", status: 504 },
      { name: "half a head", said: "HTTP/1.1 200 OK\r\nContent-", status: 504 },
      { name: "an interim answer only", said: "HTTP/1.1 100 Continue\r\n\r\n", status: 504 },
      { name: "a head without its body", said: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", status: 200 },
      { name: "a part of a body with a length", said: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", status: 200 },
      { name: "a head of a stream", said: STREAM_HEAD, status: 200 },
      { name: "half a chunk", said: `${STREAM_HEAD}20\r\ndata: `, status: 200 },
      { name: "all but the last chunk", said: `${STREAM_HEAD}${chunkOf("data: {}\n\n")}`, status: 200 },
      { name: "all but the end of the last chunk", said: `${STREAM_HEAD}${chunkOf("data: {}\n\n")}0\r\n`, status: 200 },
      { name: "a body that ends with the connection", said: "HTTP/1.1 200 OK\r\n\r\n12345", status: 200 },
      { name: "idle after an answer", said: jsonAnswer("{}"), status: 200, isWhole: true },
    ];
  for (const state of states) {
    it(state.name, { timeout: WITHIN_MS }, async () => {
      behaviour = "say";
      said = state.said;
      const client = await openClient(router.port);
      client.send(postBytes(CHAT, BODY));
      const received = await (state.isWhole ? client.until(isWholeAnswer) : client.closed());
      assert.equal(readStatus(received), state.status);
      if (state.status === 200) assert.equal(isWholeAnswer(received), state.isWhole ?? false);
      await waitUntil(() => replica.sockets.size === 0, WITHIN_MS);
      assert.deepEqual(outstanding(router.router), { inFlight: 0, prefillTokens: 0 });
      client.destroy();
    });
  }
});

describe("bad requests are answered at once, in the API's shape, and reach no replica", () => {
  const cases: readonly { name: string; sent: string; status: number; code: string; dialect?: "anthropic" }[] = [
    { name: "malformed JSON", sent: postBytes(CHAT, '{"model":"m",}'), status: 400, code: "invalid_json" },
    { name: "truncated JSON", sent: postBytes(CHAT, '{"model":"m"'), status: 400, code: "invalid_json" },
    { name: "an empty body", sent: postBytes(CHAT, ""), status: 400, code: "invalid_json" },
    { name: "a list", sent: postBytes(CHAT, "[1]"), status: 400, code: "invalid_json" },
    { name: "no model", sent: postBytes(CHAT, '{"messages":[]}'), status: 400, code: "missing_model" },
    { name: "an empty model", sent: postBytes(CHAT, '{"model":""}'), status: 400, code: "missing_model" },
    { name: "two models", sent: postBytes(CHAT, '{"model":"m","mod\\u0065l":"n"}'), status: 400, code: "invalid_value" },
    { name: "an unknown model", sent: postBytes(CHAT, '{"model":"nobody"}'), status: 404, code: "model_not_found" },
    {
      name: "an unknown model on messages",
      sent: postBytes("/v1/messages", '{"model":"nobody","max_tokens":1,"messages":[]}'),
      status: 404,
      code: "model_not_found",
      dialect: "anthropic",
    },
    { name: "an unknown path", sent: postBytes("/v1/nothing", BODY), status: 404, code: "unknown_path" },
    { name: "another method", sent: `GET ${CHAT} HTTP/1.1\r\nHost: x\r\n\r\n`, status: 405, code: "method_not_allowed" },
    {
      name: "a body over the limit",
      sent: postBytes(CHAT, `{"model":"m","x":"${"y".repeat(600_000)}"}`),
      status: 413,
      code: "body_too_large",
    },
    {
      name: "a chunked body over the limit",
      sent: chunkedHead() + chunkOf(`{"x":"${"y".repeat(600_000)}`),
      status: 413,
      code: "body_too_large",
    },
    {
      name: "another content type",
      sent: postBytes(CHAT, BODY).replace("application/json", "text/plain"),
      status: 415,
      code: "unsupported_media_type",
    },
    {
      name: "a body in a coding that is not known",
      sent: postBytes(CHAT, BODY, "Content-Encoding: deflate\r\n"),
      status: 415,
      code: "unsupported_media_type",
    },
    { name: "an odd expectation", sent: postBytes(CHAT, BODY, "Expect: a miracle\r\n"), status: 417, code: "expectation_failed" },
    {
      name: "a head that is too large",
      sent: postBytes(CHAT, BODY, `A: ${"b".repeat(70_000)}\r\n`),
      status: 431,
      code: "head_too_large",
    },
    { name: "two framings", sent: postBytes(CHAT, BODY, "Transfer-Encoding: chunked\r\n"), status: 400, code: "bad_request" },
    { name: "HTTP/2", sent: `POST ${CHAT} HTTP/2.0\r\nHost: x\r\n\r\n`, status: 505, code: "version_not_supported" },
  ];
  for (const { name, sent, status, code, dialect } of cases) {
    it(name, { timeout: WITHIN_MS }, async () => {
      behaviour = "answer";
      const before = replica.requests.length;
      const { status: got, head, json } = readAnswer(await exchange(router.port, sent));
      assert.equal(got, status);
      assert.match(head, /content-type: application\/json/i);
      assert.match(head, /x-request-id: \S+/i);
      const error = json["error"] as { code: string; message: string };
      assert.equal(error.code, code);
      assert.ok(error.message.length > 20, error.message);
      assert.equal(json["type"], dialect === "anthropic" ? "error" : undefined);
      assert.equal(replica.requests.length, before);
      assert.deepEqual(outstanding(router.router), { inFlight: 0, prefillTokens: 0 });
    });
  }
});

describe("ordinary HTTP", () => {
  it("answers pipelined requests in order", async () => {
    behaviour = "answer";
    const client = await openClient(router.port);
    client.send(`${postBytes(CHAT, BODY)}GET /health HTTP/1.1\r\nHost: x\r\n\r\n${postBytes("/nope", BODY)}`);
    const received = await client.until((text) => text.split("HTTP/1.1 ").length === 4 && text.includes("unknown_path"));
    assert.deepEqual(
      received
        .split("HTTP/1.1 ")
        .slice(1)
        .map((answer) => answer.slice(0, 3)),
      ["200", "200", "404"],
    );
    client.destroy();
  });

  for (const { name, bytes } of [
    { name: "a small request", bytes: 10 },
    { name: "a request nearly as large as may be sent ahead", bytes: 60_000 },
  ]) {
    const what = `keeps the order of ${name} that comes in pieces while the one before is being answered`;
    it(what, { timeout: WITHIN_MS }, async () => {
      behaviour = "hang";
      const before = replica.requests.length;
      const client = await openClient(router.port);
      client.send(postBytes(CHAT, BODY));
      await waitUntil(() => replica.requests.length === before + 1);
      behaviour = "answer";
      const body = `{"model":"m","a":"${"a".repeat(bytes)}","b":"${"b".repeat(bytes)}"}`;
      const second = postBytes(CHAT, body);
      for (let part = 0; part < 4; part++) {
        client.send(second.slice(Math.floor((second.length * part) / 4), Math.floor((second.length * (part + 1)) / 4)));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const received = await client.until((text) => text.endsWith('{"ok":true}'));
      assert.deepEqual(
        received
          .split("HTTP/1.1 ")
          .slice(1)
          .map((answer) => answer.slice(0, 3)),
        ["504", "200"],
      );
      assert.equal(replica.requests.at(-1)!.body.toString(), body);
      client.destroy();
    });
  }

  it("asks for the body of a request that expects it", async () => {
    const client = await openClient(router.port);
    const [head, body] = [postBytes(CHAT, BODY, "Expect: 100-continue\r\n").slice(0, -BODY.length), BODY];
    client.send(head);
    await client.until((text) => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n"));
    client.send(body);
    await client.until((text) => text.includes("HTTP/1.1 200"));
    client.destroy();
  });

  it("does not ask for a body that it would refuse", async () => {
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999999\r\nExpect: 100-continue\r\n\r\n`;
    assert.match(await exchange(router.port, head), /^HTTP\/1.1 413 /);
  });

  it("serves HTTP/1.0 and closes", async () => {
    behaviour = "stream-then-silence";
    const client = await openClient(router.port);
    client.send(postBytes(CHAT, BODY).replace("HTTP/1.1", "HTTP/1.0"));
    const received = await client.closed();
    assert.match(received, /Connection: close/i);
    assert.ok(!/transfer-encoding/i.test(received));
    assert.ok(received.includes("data: {}\n\n"));
  });

  it("sends the replica one clean request: framing ours, hop-by-hop and control headers gone, id and peer added", async () => {
    behaviour = "answer";
    const lines = [
      "Connection: keep-alive, X-Named",
      "X-Named: 1",
      "Keep-Alive: timeout=5",
      "TE: trailers",
      "Upgrade: h2c",
      "X-Forwarded-For: 6.6.6.6",
      "X-Gateway-Destination-Endpoint: evil:1",
      "X-Data-Parallel-Rank: 3",
      "under_score: 1",
      "Accept-Encoding: gzip",
      "Authorization: Bearer k",
      "X-Request-Id: my-id.1",
    ];
    await exchange(router.port, postBytes(CHAT, BODY, `${lines.join("\r\n")}\r\n`));
    const { headers, body, startLine } = replica.requests.at(-1)!;
    assert.equal(startLine, `POST ${CHAT} HTTP/1.1`);
    assert.equal(body.toString(), BODY);
    assert.deepEqual([...headers.keys()].sort(), [
      "accept-encoding",
      "authorization",
      "content-length",
      "content-type",
      "host",
      "x-forwarded-for",
      "x-request-id",
    ]);
    assert.equal(headers.get("host"), `127.0.0.1:${replica.port}`);
    assert.equal(headers.get("accept-encoding"), "identity");
    assert.equal(headers.get("x-forwarded-for"), "127.0.0.1");
    assert.equal(headers.get("x-request-id"), "my-id.1");
  });
});

function chunkedHead(): string {
  return `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
}

/** Writes event after event until the socket is gone. */
function flood(socket: {
  write(text: string): boolean;
  once(event: string, run: () => void): unknown;
  destroyed: boolean;
}): void {
  const chunk = chunkOf(`data: ${"x".repeat(60_000)}\n\n`);
  socket.write(STREAM_HEAD);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}

/** A paused client does not see the reset: read on once the server has let go. */
async function serverLetsGo(client: RawClient): Promise<void> {
  await waitUntil(() => outstanding(router.router).inFlight === 1);
  await waitUntil(() => outstanding(router.router).inFlight === 0);
  client.socket.resume();
}

function readStatus(received: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
}
