/** A client that asks for a stream gets its head, and comments, before there is a response. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { postRequest, setUpFetch } from "../support/fetch-router.ts";
import { openClient, postBytes, type RawClient } from "../support/raw-client.ts";
import { loadTestConfig, type TestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, CHAT, chatBody, chatPost, event, OK, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { readWithSdk, whatSdkSees } from "../support/sdk-streams.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const PATHS = "[/v1/chat/completions, /v1/responses, /v1/messages, /v1/embeddings]";
const SPEC = `  keepAlive: { beforeHeadMs: 20, periodSeconds: 0.02, paths: ${PATHS} }\n  plugins: [{ type: access-log }]\n`;
const COMMENT = ": keep-alive\n\n";
const DONE = "data: [DONE]\n\n";

/** The head and some comments have come. */
const isEarly = (received: string) => received.split(chunkOf(COMMENT)).length > 2;

/** A script whose requests the test answers when it wants. */
function held(): { readonly script: Script; readonly sockets: Socket[] } {
  const sockets: Socket[] = [];
  return { script: (_request, socket) => void sockets.push(socket), sockets };
}

async function ask(router: TestRouter, bytes = chatPost(STREAM)): Promise<RawClient> {
  const client = await openClient(router.port);
  client.send(bytes);
  return client;
}

const headOf = (received: string) => received.slice(0, received.indexOf("\r\n\r\n"));
/** What of it is no comment. */
const said = (received: string) => wholeAnswer(received).body.replaceAll(COMMENT, "");
const lastLine = async (router: TestRouter, count = 1) => {
  await waitUntil(() => router.log.length === count);
  return router.log.at(-1)!;
};

/** A request whose client has its head before the replica does what `answer` says; returns what the client got. */
async function afterHead(answer: (socket: Socket) => void, spec = SPEC) {
  const { script, sockets } = held();
  const { router, replica } = await setUp([script], { spec });
  const client = await ask(router);
  await client.until(isEarly);
  await waitUntil(() => sockets.length === 1);
  answer(sockets[0]!);
  const received = await client.closed();
  return { received, router, replica, line: await lastLine(router) };
}

describe("a stream whose replica is silent before its head", () => {
  it("begins with status 200 and comments, and goes on with the replica's events", async () => {
    const { script, sockets } = held();
    const { router } = await setUp([script], { spec: SPEC });
    const client = await ask(router, chatPost(STREAM, "x-request-id: early-1\r\n"));
    const received = await client.until(isEarly);
    const head = headOf(received);
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(head, /\r\ncontent-type: text\/event-stream/i);
    assert.match(head, /\r\nx-accel-buffering: no\r\n/i);
    assert.match(head, /\r\ncache-control: no-cache\r\n/i);
    assert.match(head, /\r\nx-request-id: early-1\r\n/i);
    assert.match(head, /\r\nTransfer-Encoding: chunked/i);
    sockets[0]!.write(STREAM_HEAD.replace("\r\n", "\r\nX-Engine: a\r\n") + chunkOf(event(1)));
    await client.until((text) => text.includes(event(1)));
    sockets[0]!.write(chunkOf(DONE) + LAST_CHUNK);
    const whole = wholeAnswer(await client.until((text) => text.endsWith(LAST_CHUNK)));
    assert.equal(whole.isComplete, true);
    assert.doesNotMatch(headOf(received), /x-engine/i);
    assert.equal(whole.body.replaceAll(COMMENT, ""), event(1) + DONE);
    const { status, ending, error } = await lastLine(router);
    assert.deepEqual({ status, ending, error }, { status: 200, ending: "complete", error: "" });
    // The connection serves on.
    client.send(chatPost(STREAM));
    await waitUntil(() => sockets.length === 2);
    client.destroy();
    await assertIdle(router);
  });

  it("goes to another replica that takes it, as long as no replica has answered", async () => {
    const first = held();
    const second = held();
    const { router } = await setUp([first.script, second.script], { spec: SPEC });
    const client = await ask(router);
    await client.until(isEarly);
    await waitUntil(() => first.sockets.length + second.sockets.length === 1);
    const [refusing, serving] = first.sockets.length === 1 ? [first, second] : [second, first];
    refusing.sockets[0]!.write(jsonAnswer('{"error":{"message":"busy"}}', "503 Service Unavailable"));
    await waitUntil(() => serving.sockets.length === 1);
    serving.sockets[0]!.write(STREAM_HEAD + chunkOf(event(7) + DONE) + LAST_CHUNK);
    assert.equal(said(await client.until((text) => text.endsWith(LAST_CHUNK))), event(7) + DONE);
    const { status, attempts } = await lastLine(router);
    assert.deepEqual([status, ...attempts.map(({ result }) => result)], [200, 503, 200]);
    client.destroy();
  });

  it("ends with the replica's own error, and the log has its status", async () => {
    const body = '{"error":{"message":"too long","type":"BadRequestError","param":null,"code":400}}';
    const { received, router, line } = await afterHead((socket) => socket.write(jsonAnswer(body, "400 Bad Request")));
    const { isComplete } = wholeAnswer(received);
    assert.equal(isComplete, false, "no client may take it for a whole answer");
    assert.equal(said(received), `data: ${body}\n\n`);
    assert.deepEqual([line.status, line.ending], [400, "complete"]);
    await assertIdle(router);
  });

  it("is explained, with the status that the replica answered", async () => {
    const body = '{"error":{"message":"no such thing"}}';
    const { router } = await afterHead((socket) => socket.write(jsonAnswer(body, "404 Not Found")));
    const admin = await startTestAdmin(router.router);
    after(() => admin.close());
    const answer = await askFor(admin.port, `/api/v1/explain/${router.log[0]!.id}`);
    const { decisions } = JSON.parse(answer.body) as { decisions: { status: number; notes: string[] }[] };
    assert.deepEqual(
      decisions.map(({ status }) => status),
      [404],
    );
    assert.match(decisions[0]!.notes.join(), /had got status 200 .*beforeHeadMs/);
  });

  const errors: readonly (readonly [name: string, answer: string, message: RegExp, status: number])[] = [
    ["an old error", jsonAnswer('{"object":"error","message":"no","code":404}', "404 Not Found"), /^no$/, 404],
    ["FastAPI's detail", jsonAnswer('{"detail":[{"loc":1}]}', "422 Unprocessable Entity"), /loc/, 422],
    ["no JSON", jsonAnswer("<html>", "500 Internal Server Error"), /status 500/, 500],
    ["nothing", jsonAnswer("", "500 Internal Server Error"), /status 500/, 500],
    ["much", jsonAnswer(`{"error":{"message":"${"x".repeat(70_000)}"}}`, "500 No"), /status 500/, 500],
    ["a redirect", jsonAnswer("", "307 Temporary Redirect"), /status 307/, 307],
    ["one document", OK, /event stream/, 502],
    ["a compressed stream", STREAM_HEAD.replace("\r\n", "\r\nContent-Encoding: gzip\r\n") + LAST_CHUNK, /event stream/, 502],
  ];
  for (const [name, answer, message, status] of errors) {
    it(`ends with an error event where the replica answers ${name}`, async () => {
      const { received, router, line } = await afterHead((socket) => socket.write(answer));
      const [, json = ""] = /^data: (.*)\n\n$/.exec(said(received)) ?? [];
      assert.match((JSON.parse(json) as { error: { message: string } }).error.message, message);
      assert.equal(line.status, status);
      await assertIdle(router);
    });
  }

  it("ends with an error event where the replica dies before its head", async () => {
    const { received, line } = await afterHead((socket) => socket.destroy());
    assert.match(said(received), /^data: \{"error":\{.*"code":"upstream_reset"\}\}\n\n$/);
    assert.deepEqual([line.status, line.error], [502, "upstream_reset"]);
  });

  it("ends with an error event where it dies inside of what is no stream", async () => {
    const half = jsonAnswer("{}".repeat(50)).slice(0, -20);
    const { received, line } = await afterHead((socket) => socket.end(half));
    assert.match(said(received), /^data: \{"error":\{.*event stream.*\}\}\n\n$/);
    assert.equal(line.ending, "broken");
  });

  it("ends with an error event as ever where it dies in mid-stream", async () => {
    const { received, line } = await afterHead((socket) => socket.end(STREAM_HEAD + chunkOf(event(1))));
    assert.match(said(received), /^data: .*"n":1\}\n\ndata: \{"error":\{.*"code":"upstream_reset"\}\}\n\n$/);
    assert.deepEqual([line.status, line.ending], [200, "broken"]);
  });

  it("ends with an error event when the router stops", async () => {
    const { script } = held();
    const { router } = await setUp([script], { spec: SPEC });
    const client = await ask(router);
    await client.until(isEarly);
    await router.server.drain(0);
    assert.match(said(await client.closed()), /"code":"shutting_down"/);
  });

  it("is tried no more when its client leaves", async () => {
    const { script, sockets } = held();
    const { router } = await setUp([script], { spec: SPEC });
    const client = await ask(router);
    await client.until(isEarly);
    const closed = new Promise((resolve) => sockets[0]!.on("close", resolve));
    client.destroy();
    await closed;
    const { status, ending } = await lastLine(router);
    assert.deepEqual({ status, ending }, { status: 0, ending: "client-left" });
    await assertIdle(router);
  });

  it("keeps its comments when the config has none any more", async () => {
    const { script, sockets } = held();
    const { router, replica } = await setUp([script], { spec: SPEC });
    const client = await ask(router);
    await waitUntil(() => sockets.length === 1);
    router.router.replace(await loadTestConfig([replica.url], { spec: "  plugins: [{ type: access-log }]\n" }));
    await client.until(isEarly);
    sockets[0]!.write(STREAM_HEAD + chunkOf(event(1) + DONE) + LAST_CHUNK);
    assert.equal(said(await client.until((text) => text.endsWith(LAST_CHUNK))), event(1) + DONE);
    client.destroy();
  });
});

describe("a stream in the line of admission", () => {
  /** One request is at the replica, and another one waits and has its head. */
  async function waitingLine(admission: string) {
    const { script, sockets } = held();
    const { router, replica } = await setUp([script], { spec: `${SPEC}  admission: ${admission}\n` });
    await ask(router, chatPost());
    await waitUntil(() => sockets.length === 1);
    const second = await ask(router);
    await second.until(isEarly);
    return { router, replica, sockets, second };
  }

  it("gets its head while it waits, and its events when it goes on", async () => {
    const { router, sockets, second } = await waitingLine("{ concurrency: 1 }");
    sockets[0]!.write(OK);
    await waitUntil(() => sockets.length === 2);
    sockets[1]!.write(STREAM_HEAD + chunkOf(event(2) + DONE) + LAST_CHUNK);
    assert.equal(said(await second.until((text) => text.endsWith(LAST_CHUNK))), event(2) + DONE);
    await assertIdle(router);
  });

  it("gets the line's refusal as an error event, and the log has its status", async () => {
    const { router, sockets, second } = await waitingLine("{ concurrency: 1, maxWaitMs: 2000 }");
    assert.match(said(await second.closed()), /^data: \{"error":\{.*"code":"queue_timeout"\}\}\n\n$/);
    const { status, error } = await lastLine(router);
    assert.deepEqual({ status, error }, { status: 429, error: "queue_timeout" });
    sockets[0]!.write(OK);
  });

  it("goes to another replica where the first one has gone meanwhile", async () => {
    const pool = [held(), held()];
    const { router, replicas } = await setUp(
      pool.map(({ script }) => script),
      { spec: `${SPEC}  admission: { concurrency: 1 }\n` },
    );
    await ask(router, chatPost());
    await waitUntil(() => pool.some(({ sockets }) => sockets.length === 1));
    await ask(router, chatPost());
    await waitUntil(() => pool.every(({ sockets }) => sockets.length === 1));
    const client = await ask(router);
    await client.until(isEarly);
    await replicas[0]!.refuse();
    for (const socket of replicas[0]!.sockets) socket.destroy();
    pool[1]!.sockets[0]!.write(OK);
    await waitUntil(() => pool[1]!.sockets.length === 2);
    pool[1]!.sockets[1]!.write(STREAM_HEAD + chunkOf(event(3) + DONE) + LAST_CHUNK);
    assert.equal(said(await client.until((text) => text.endsWith(LAST_CHUNK))), event(3) + DONE);
    client.destroy();
  });

  it("gets an error event when all replicas are gone", async () => {
    const { router, replica, second } = await waitingLine("{ concurrency: 1, maxWaitMs: 2000 }");
    await replica.refuse();
    for (const socket of replica.sockets) socket.destroy();
    assert.match(said(await second.closed()), /^data: \{"error":\{.*"code":"[a-z_]+"\}\}\n\n$/);
    await waitUntil(() => router.log.length === 2);
    assert.ok(router.log.every(({ status }) => status >= 429));
    await assertIdle(router);
  });

  it("leaves the line with its client", async () => {
    const { router, second } = await waitingLine("{ concurrency: 1 }");
    second.destroy();
    assert.equal((await lastLine(router)).ending, "client-left");
    const line = () => router.router.features.status() as { readonly admission: { readonly waiting: number } };
    assert.equal(line().admission.waiting, 0);
  });
});

describe("what gets no head before there is a response", () => {
  const embeddings = postBytes("/v1/embeddings", '{"model":"m","input":"a","stream":true}');
  const completions = postBytes("/v1/completions", '{"model":"m","prompt":"a","stream":true}');
  const rows: readonly (readonly [name: string, bytes: string, spec?: string])[] = [
    ["a request that asks for no stream", chatPost()],
    ["one of HTTP/1.0", chatPost(STREAM).replace("HTTP/1.1", "HTTP/1.0")],
    ["an API without streams", embeddings],
    ["a path that is not listed", completions],
    ["any without the config's word", chatPost(STREAM), SPEC.replace("beforeHeadMs: 20, ", "")],
  ];
  for (const [name, bytes, spec = SPEC] of rows) {
    it(name, async () => {
      const { script, sockets } = held();
      const { router } = await setUp([script], { spec });
      const other = await ask(router);
      const client = await ask(router, bytes);
      await waitUntil(() => sockets.length === 2);
      // By then that one's time is over, too.
      if (spec === SPEC) await other.until(isEarly);
      assert.equal(client.received, "");
      for (const socket of sockets) socket.write(jsonAnswer('{"error":{"message":"no"}}', "400 Bad Request"));
      assert.match(await client.until((text) => text.includes("no")), /^HTTP\/1\.[01] 400 /);
      client.destroy();
      other.destroy();
    });
  }

  it("a response that is there before", async () => {
    const spec = SPEC.replace("beforeHeadMs: 20", "beforeHeadMs: 600000");
    const { script, sockets } = held();
    const { router } = await setUp([script], { spec });
    const client = await ask(router, postBytes(CHAT, chatBody(STREAM)));
    await waitUntil(() => sockets.length === 1);
    sockets[0]!.write(jsonAnswer('{"error":{"message":"busy"}}', "503 Service Unavailable", "Retry-After: 3\r\n"));
    assert.match(headOf(await client.until((text) => text.includes("busy"))), /^HTTP\/1\.1 503 .*\r\nretry-after: 3\r\n/is);
    client.destroy();
  });
});

const apis = [
  { dialect: "openai", events: event(1) + DONE },
  {
    dialect: "responses",
    events: 'event: response.completed\ndata: {"type":"response.completed","response":{"id":"a","output":[]}}\n\n',
  },
  {
    dialect: "anthropic",
    events:
      'event: message_start\ndata: {"type":"message_start","message":{"id":"a"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
] as const;

describe("an API's own package", () => {
  for (const { dialect, events } of apis) {
    /** The router answers it with a head; then the replica answers with `bytes`. */
    const setUpApi = async (bytes: string) => {
      const { script, sockets } = held();
      const { router } = await setUp([script], { spec: SPEC });
      const early = fetchWatch();
      const answers = early.isEarly.then(() => void sockets[0]!.write(bytes));
      return { router, options: { url: router.url, fetch: early.fetch as () => Promise<Response> }, answers };
    };

    it(`reads such a stream (${dialect})`, async () => {
      const { options, answers } = await setUpApi(STREAM_HEAD + chunkOf(events) + LAST_CHUNK);
      const data = [...events.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as unknown);
      assert.deepEqual(await readWithSdk(dialect, options), data);
      await answers;
    });

    it(`throws the replica's error (${dialect})`, async () => {
      const body =
        dialect === "anthropic"
          ? '{"type":"error","error":{"type":"invalid_request_error","message":"no","details":{"error_code":"mine"}}}'
          : '{"error":{"message":"no","type":"t","param":null,"code":"mine"}}';
      const { router, options, answers } = await setUpApi(jsonAnswer(body, "400 Bad Request"));
      assert.equal(await whatSdkSees(dialect, options), "APIError mine");
      assert.equal((await lastLine(router)).status, 400);
      await answers;
    });

    it(`throws the router's error (${dialect})`, async () => {
      const { options, answers } = await setUpApi("nonsense\r\n\r\n");
      assert.equal(await whatSdkSees(dialect, options), "APIError upstream_invalid");
      await answers;
    });
  }
});

describe("the fetch face", () => {
  it("hands over a stream before there is a response, and an error in it", async () => {
    const { script, sockets } = held();
    const { router } = await setUpFetch(script, { spec: SPEC });
    const response = await router.fetch(postRequest(CHAT, chatBody(STREAM)));
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream; charset=utf-8"]);
    await waitUntil(() => sockets.length === 1);
    sockets[0]!.write(jsonAnswer('{"error":{"message":"busy"}}', "503 Service Unavailable"));
    let text = "";
    await assert.rejects(async () => {
      for await (const piece of response.body!) text += Buffer.from(piece).toString();
    });
    assert.equal(text.replaceAll(COMMENT, ""), 'data: {"error":{"message":"busy"}}\n\n');
    await waitUntil(() => router.log.length === 1);
    assert.equal(router.log[0]!.status, 503);
  });
});

/** A fetch, and a promise that the head of its response has come. */
function fetchWatch() {
  let tell: (() => void) | undefined;
  const isEarly = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const watched = async (...args: Parameters<typeof fetch>) => {
    const response = await fetch(...args);
    tell?.();
    return response;
  };
  return { isEarly, fetch: watched };
}
