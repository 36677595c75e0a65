import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { CHAT, chatBody, setUpFetch } from "../../support/fetch-router.ts";
import { serveNatively } from "../../support/native-server.ts";
import { exchange, openClient, postBytes, readAnswer } from "../../support/raw-client.ts";
import { waitUntil } from "../../support/router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { wholeAnswer } from "../../support/whole-answer.ts";

const event = (n: number) => `data: {"n":${n}}\n\n`;

async function setUp(script: Script, spec = "") {
  const { router, replica } = await setUpFetch(script, { spec });
  const server = await serveNatively(router.fetch);
  after(() => server.close());
  return { router, replica, port: server.port };
}

const streamed = postBytes(CHAT, chatBody(',"stream":true'));

describe("the fetch face under this runtime's own server", () => {
  it("responds with the replica's status, headers and bytes", async () => {
    const { port, replica } = await setUp(
      (_request, socket) => void socket.write(jsonAnswer('{"é":1.0}', "404 Not Found", "X-A: b\r\n")),
    );
    const response = readAnswer(await exchange(port, postBytes(CHAT, chatBody())));
    assert.equal(response.status, 404);
    assert.match(response.head, /^x-a: b$/im);
    assert.match(response.head, /^x-signalbox-model: m$/im);
    assert.match(response.head, /^content-length: 10$/im);
    assert.deepEqual(response.json, { é: 1 });
    assert.equal(replica.requests[0]?.body.toString(), chatBody());
  });

  it("hands each event on as it comes", async () => {
    const sockets: Socket[] = [];
    const { port } = await setUp((_request, socket) => {
      socket.write(STREAM_HEAD);
      sockets.push(socket);
    });
    const client = await openClient(port);
    client.send(streamed);
    for (let n = 1; n <= 5; n++) {
      await waitUntil(() => sockets.length === 1);
      sockets[0]!.write(chunkOf(event(n)));
      await client.until((received) => received.includes(event(n)));
    }
    sockets[0]!.write(LAST_CHUNK);
    const response = wholeAnswer(await client.until((received) => received.endsWith("0\r\n\r\n")));
    assert.equal(response.body, [1, 2, 3, 4, 5].map(event).join(""));
    client.destroy();
  });

  it("ends a stream that breaks with the error event, and never cleanly", async () => {
    const { port } = await setUp((_request, socket) => {
      socket.write(STREAM_HEAD + chunkOf(event(1)));
      setTimeout(() => socket.destroy(), 20);
    });
    const client = await openClient(port);
    client.send(streamed);
    const response = wholeAnswer(await client.closed());
    assert.ok(response.body.startsWith(event(1)));
    assert.match(response.body, /data: \{"error":\{[^\n]+"code":"upstream_reset"\}\}\n\n$/);
    assert.equal(response.isComplete, false);
  });

  it("ends a body that breaks off visibly", async () => {
    const { port } = await setUp(
      (_request, socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"),
    );
    const client = await openClient(port);
    client.send(postBytes(CHAT, chatBody()));
    assert.equal(wholeAnswer(await client.closed()).isComplete, false);
  });

  for (const [name, first] of [
    ["before the head", ""],
    ["in mid-stream", STREAM_HEAD + chunkOf(event(1))],
  ] as const) {
    it(`closes the connection to the replica when the client leaves ${name}`, async () => {
      const { port, replica, router } = await setUp((_request, socket) => void socket.write(first));
      const client = await openClient(port);
      client.send(streamed);
      await waitUntil(() => replica.requests.length === 1);
      if (first !== "") await client.until((received) => received.includes(event(1)));
      client.destroy();
      await waitUntil(() => replica.sockets.size === 0);
      assert.equal(router.log.at(-1)?.ending, "client-left");
    });
  }

  it("takes a body in chunks, and refuses one over the limit", async () => {
    const answerOk: Script = (_request, socket) => void socket.write(jsonAnswer("{}"));
    const { port, replica } = await setUp(answerOk, "  limits: { bodyBytes: 2000 }");
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const body = chatBody();
    const small = chunkOf(body.slice(0, 9)) + chunkOf(body.slice(9)) + LAST_CHUNK;
    assert.equal(readAnswer(await exchange(port, head + small)).status, 200);
    assert.equal(replica.requests[0]?.body.toString(), body);
    const large = chunkOf(chatBody(`,"padding":"${"x".repeat(3000)}"`)) + LAST_CHUNK;
    assert.equal(readAnswer(await exchange(port, head + large)).status, 413);
    assert.equal(replica.requests.length, 1);
  });
});
