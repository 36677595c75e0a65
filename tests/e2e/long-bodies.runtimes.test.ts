import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isWholeAnswer, openClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, CHAT, chatPost, setUp } from "../support/scripted-pool.ts";

const MIB = 2 ** 20;
const MEMBER = ',"\\u006d":1';
const HEALTH = "GET /health HTTP/1.1\r\nHost: test\r\n\r\n";
const slowBody = (end = "}") =>
  `{"model":"m","messages":[{"role":"user","content":"x"}]${MEMBER.repeat((8 * MIB) / MEMBER.length)}${end}`;
const post = (body: string, framing = `Content-Length: ${body.length}`) =>
  `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${framing}\r\n\r\n${body}`;

describe("a long body that is slow to scan", () => {
  it("lets others have their turns, and reaches the replica whole", async () => {
    const { router, replica } = await setUp([answerOk]);
    const other = await openClient(router.port);
    const client = await openClient(router.port);
    const body = slowBody();
    client.send(post(body));
    await waitUntil(() => router.router.gate.memory.bodyBytes > 0);
    let served = 0;
    while (!isWholeAnswer(client.received)) {
      other.send(HEALTH);
      served += 1;
      await other.until((received) => received.split("HTTP/1.1 200 ").length > served);
    }
    assert.equal(readAnswer(client.received).status, 200);
    assert.ok(served >= 5, `${served} requests were served meanwhile`);
    assert.equal(replica.requests[0]?.body.toString("latin1"), body);
    client.destroy();
    other.destroy();
  });

  it("keeps the order of pipelined requests", async () => {
    const { router, replica } = await setUp([answerOk]);
    const client = await openClient(router.port);
    const body = slowBody();
    client.send(post(body) + HEALTH + chatPost());
    const received = await client.until((text) => text.split("HTTP/1.1 200 ").length > 3);
    const lengths = replica.requests.map((request) => request.body.length);
    assert.equal(lengths[0], body.length);
    assert.equal(lengths.length, 2);
    assert.ok(received.indexOf('"model":"m"') < received.indexOf("{}"), "the first response first");
    client.destroy();
  });

  it("is refused where it is wrong, chunked too", async () => {
    const { router } = await setUp([answerOk]);
    const body = slowBody("]");
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (const bytes of [post(body), post(chunk, "Transfer-Encoding: chunked")]) {
      const client = await openClient(router.port);
      client.send(bytes);
      const { status, json } = readAnswer(await client.until(isWholeAnswer));
      assert.equal(status, 400);
      assert.equal((json["error"] as { code: string }).code, "invalid_json");
      client.destroy();
    }
    assert.equal(router.router.gate.memory.bodyBytes, 0);
  });

  it("whose client leaves is forgotten", async () => {
    const { router, replica } = await setUp([answerOk]);
    const client = await openClient(router.port);
    client.send(post(slowBody()));
    await waitUntil(() => router.router.gate.memory.bodyBytes > 2 * MIB);
    client.destroy();
    await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
    await waitUntil(() => router.server.connections === 0);
    assert.equal(replica.requests.length, 0);
  });
});
