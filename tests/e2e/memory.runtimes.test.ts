import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isWholeAnswer, openClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, chatBody, chatPost, event, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD } from "../support/scripted-replica.ts";

const MIB = 2 ** 20;
const SMALL = { spec: "  limits: { memoryBytes: 5242880 }" };
const headOf = (path: string, framing: string) =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
const largeChat = (bytes: number) => chatBody(`,"pad":"${"x".repeat(bytes)}"`);

describe("the router's memory for bodies", () => {
  for (const [path, shape] of [
    ["/v1/chat/completions", /^\{"error":\{"message":"[^"]+","type":"overloaded_error","param":null,"code":"overloaded"\}\}$/],
    ["/v1/messages", /^\{"type":"error","error":\{"type":"overloaded_error",.*"code":"overloaded"/],
  ] as const) {
    it(`is used up: a body announced to ${path} is refused before it comes, others are served`, async () => {
      const { router } = await setUp([answerOk], SMALL);
      const holder = await openClient(router.port);
      const half = largeChat(3 * MIB);
      holder.send(headOf(path, `Content-Length: ${half.length}`) + half.slice(0, -1));
      await waitUntil(() => router.router.gate.memory.bodyBytes > 3 * MIB);
      const refused = await openClient(router.port);
      refused.send(headOf(path, `Expect: 100-continue\r\nContent-Length: ${2 * MIB}`));
      const response = await refused.closed();
      assert.match(response, /^HTTP\/1\.1 503 /);
      assert.match(response, /\r\nretry-after: 1\r\n/);
      assert.match(response.slice(response.indexOf("\r\n\r\n") + 4), shape);
      const small = await openClient(router.port);
      small.send(chatPost());
      assert.equal(readAnswer(await small.until(isWholeAnswer)).status, 200);
      small.destroy();
      holder.destroy();
      await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
    });
  }

  it("is taken from uploads that stall", async () => {
    const { router } = await setUp([answerOk], SMALL);
    const text = largeChat(1.5 * MIB);
    const request = headOf("/v1/chat/completions", `Content-Length: ${text.length}`) + text;
    const stalled = await openClient(router.port);
    const kept = await openClient(router.port);
    stalled.send(request.slice(0, -1000));
    kept.send(request.slice(0, -1000));
    await waitUntil(() => router.router.gate.memory.bodyBytes > 2.9 * MIB);
    for (let tries = 0; stalled.received === "" && kept.received === ""; tries++) {
      const next = await openClient(router.port);
      next.send(request);
      assert.match(await next.until(isWholeAnswer), tries < 8 ? /^HTTP\/1\.1 (200|503) / : /^HTTP\/1\.1 200 /);
      next.destroy();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const cut = stalled.received === "" ? kept : stalled;
    assert.match(await cut.until(isWholeAnswer), /^HTTP\/1\.1 503 [\s\S]*"code":"overloaded"/);
    stalled.destroy();
    kept.destroy();
    await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
  });

  it("is free while the responses to large bodies are streamed", async () => {
    const { router } = await setUp([(_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(0)))], SMALL);
    const text = largeChat(MIB).replace(/\}$/, `${STREAM}}`);
    const clients = [];
    for (let n = 0; n < 8; n++) {
      const client = await openClient(router.port);
      client.send(headOf("/v1/chat/completions", `Content-Length: ${text.length}`) + text);
      await client.until((received) => received.includes(event(0)));
      clients.push(client);
    }
    assert.equal(router.router.gate.memory.bodyBytes, 0);
    for (const client of clients) client.destroy();
  });

  it("counts what clients do not read", async () => {
    const { router } = await setUp([
      (_request, socket) => void socket.write(STREAM_HEAD + chunkOf("x".repeat(16 * MIB)) + LAST_CHUNK),
    ]);
    const reader = await openClient(router.port);
    reader.socket.pause();
    reader.send(chatPost(STREAM));
    await waitUntil(() => router.router.gate.memory.unreadBytes > 0);
    reader.destroy();
    await waitUntil(() => router.router.gate.memory.unreadBytes === 0);
  });
});
