import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, CHAT, chatBody, event, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const post = (path = CHAT, body = chatBody(), lines = "") => postBytes(path, body, lines);

describe("a replica that can't be connected to", () => {
  it("costs no request: another replica serves it", async () => {
    const { router, replicas } = await setUp([answerOk, answerOk, answerOk]);
    const dead = replicas[0]!;
    await dead.refuse();
    for (const socket of dead.sockets) socket.destroy();
    for (let i = 0; i < 50; i++) assert.equal(readAnswer(await exchange(router.port, post())).status, 200);
    await assertIdle(router);
  });

  it("answers 502 or 503 in the API's shape when there is no other", async () => {
    const { router, replicas } = await setUp([answerOk]);
    await replicas[0]!.refuse();
    for (const socket of replicas[0]!.sockets) socket.destroy();
    const first = readAnswer(await exchange(router.port, post("/v1/messages", chatBody(',"max_tokens":5'))));
    assert.equal(first.status, 502);
    assert.equal(first.json["type"], "error");
    const second = readAnswer(await exchange(router.port, post()));
    assert.equal(second.status, 503);
    assert.match(second.head, /retry-after: \d/i);
    await assertIdle(router);
  });

  it("is used again once it listens again", async () => {
    const { router, replicas } = await setUp([answerOk]);
    await replicas[0]!.refuse();
    for (const socket of replicas[0]!.sockets) socket.destroy();
    await exchange(router.port, post());
    await replicas[0]!.listenAgain();
    await waitUntil(() => router.router.pool.facts.endpoints.every((endpoint) => endpoint.isAvailable));
    assert.equal(readAnswer(await exchange(router.port, post())).status, 200);
  });
});

describe("a replica that fails after it got the request", () => {
  it("headers that never come: 504 and the upstream connection is closed", async () => {
    const { router, replicas } = await setUp([() => {}], { spec: "  limits: { responseTimeoutMs: 200 }" });
    const answer = readAnswer(await exchange(router.port, post()));
    assert.equal(answer.status, 504);
    assert.equal(replicas[0]!.requests.length, 1);
    await waitUntil(() => replicas[0]!.sockets.size === 0);
    await assertIdle(router);
  });

  it("503 from one replica goes to another; the last one's own 503 is passed on", async () => {
    const busy: Script = (_request, socket) =>
      void socket.write(jsonAnswer('{"error":{"message":"full"}}', "503 Service Unavailable", "Retry-After: 7\r\n"));
    const { router } = await setUp([busy, answerOk]);
    for (let i = 0; i < 10; i++) assert.equal(readAnswer(await exchange(router.port, post())).status, 200);
    const { router: alone } = await setUp([busy]);
    const answer = readAnswer(await exchange(alone.port, post()));
    assert.equal(answer.status, 503);
    assert.match(answer.head, /retry-after: 7/i);
    assert.deepEqual(answer.json, { error: { message: "full" } });
  });

  it("429 of the only replica is passed on unchanged", async () => {
    const { router } = await setUp([
      (_request, socket) => void socket.write(jsonAnswer('{"error":"slow down"}', "429 Too Many Requests", "Retry-After: 7\r\n")),
    ]);
    const answer = readAnswer(await exchange(router.port, post()));
    assert.equal(answer.status, 429);
    assert.match(answer.head, /retry-after: 7/i);
  });
});

describe("a stream that breaks", () => {
  /** Breaks the stream that the replica has begun. What comes in one read with wrong bytes is not passed on, so it waits for the client. */
  let breakOff = () => {};
  const broken =
    (finish: (socket: Socket) => void): Script =>
    (_request, socket) => {
      socket.write(STREAM_HEAD + chunkOf(event(1)) + chunkOf(event(2)));
      breakOff = () => finish(socket);
    };
  const cases: readonly { name: string; script: Script; path?: string; error: RegExp }[] = [
    { name: "between events, by FIN", script: broken((s) => s.end()), error: /data: \{"error":/ },
    { name: "between events, by RST", script: broken((s) => s.resetAndDestroy()), error: /data: \{"error":/ },
    {
      name: "inside an event",
      script: broken((s) => s.end(chunkOf('data: {"n":3'))),
      error: /\n\ndata: \{"error":[^\n]*\n\n$/,
    },
    {
      name: "inside a chunk",
      script: broken((s) => s.end("20\r\ndata: {")),
      error: /\n\ndata: \{"error":[^\n]*\n\n$/,
    },
    { name: "by bytes that are no chunk", script: broken((s) => s.write("zz\r\n")), error: /data: \{"error":/ },
    {
      name: "on the messages API",
      path: "/v1/messages",
      script: broken((s) => s.end()),
      error: /event: error\r?\ndata: \{"type":"error"/,
    },
    {
      name: "on the responses API",
      path: "/v1/responses",
      script: broken((s) => s.end()),
      error: /event: error\r?\ndata: \{"type":"error"/,
    },
  ];
  for (const { name, script, path, error } of cases) {
    it(`${name}: error event, no clean end`, async () => {
      const { router } = await setUp([script]);
      const client = await openClient(router.port);
      const body =
        path === "/v1/responses" ? '{"model":"m","input":"x","stream":true}' : chatBody(',"stream":true,"max_tokens":9');
      client.send(post(path ?? CHAT, body));
      await client.until((received) => received.includes(event(2)));
      breakOff();
      const text = wholeAnswer(await client.closed());
      assert.ok(text.body.startsWith(event(1) + event(2)), text.body);
      assert.match(text.body, error);
      assert.ok(!text.isComplete, "the chunked body must not be ended");
      assert.ok(!text.body.includes("[DONE]"));
      await assertIdle(router);
    });
  }

  it("silence beyond the limit ends it too", async () => {
    const { router, replicas } = await setUp([(_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(1)))], {
      spec: "  limits: { streamIdleTimeoutMs: 200 }",
    });
    const client = await openClient(router.port);
    client.send(post(CHAT, chatBody(',"stream":true')));
    const text = wholeAnswer(await client.closed());
    assert.match(text.body, /data: \{"error":/);
    assert.ok(!text.isComplete);
    await waitUntil(() => replicas[0]!.sockets.size === 0);
  });

  it("a body shorter than its Content-Length closes the client's connection", async () => {
    const { router } = await setUp([
      (_request, socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"),
    ]);
    const client = await openClient(router.port);
    client.send(post());
    const received = await client.closed();
    assert.match(received, /Content-Length: 100/i);
    assert.ok(received.endsWith("0123456789"));
  });

  it("a body that ends with the connection is whole when that ends, and broken when that is reset right behind it", async () => {
    const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    const content = JSON.stringify({ text: "x".repeat(40_000) });
    for (const [isWhole, finish] of [
      [true, (socket: Socket) => void socket.end()],
      [false, (socket: Socket) => void socket.resetAndDestroy()],
    ] as const) {
      const { router } = await setUp([
        (_request, socket) => {
          socket.write(head + content);
          finish(socket);
        },
      ]);
      for (let round = 0; round < 5; round++) {
        const client = await openClient(router.port);
        client.send(postBytes(CHAT, chatBody(), "Connection: close\r\n"));
        const answer = wholeAnswer(await client.closed());
        assert.equal(answer.isComplete, isWhole);
        if (isWhole) assert.equal(answer.body, content);
        else assert.ok(content.startsWith(answer.body));
      }
      await assertIdle(router);
    }
  });
});
