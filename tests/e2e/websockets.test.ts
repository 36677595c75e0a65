import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitUntil } from "../support/router.ts";
import { assertIdle, setUp } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { startTestRouter } from "../support/router.ts";
import { after } from "node:test";
import { ACCEPT, openWebSocket, webSocketScript, type WebSocketEnd } from "../support/websocket.ts";

const REALTIME = "/v1/realtime";
const SPEC = "  websockets: { firstMessageSeconds: 1 }";
const sessions: WebSocketEnd[] = [];
const latest = async (count: number) => {
  await waitUntil(() => sessions.length >= count);
  return sessions[count - 1]!;
};

describe("a WebSocket", () => {
  it("goes where the query's model is served", async () => {
    const { router, replica } = await setUp([webSocketScript((end) => sessions.push(end))], { spec: SPEC });
    const client = await openWebSocket(router.port, `${REALTIME}?model=m&x=1`);
    assert.equal(client.status, 101);
    assert.match(client.head, new RegExp(`sec-websocket-accept: ${ACCEPT.replaceAll("+", "\\+")}`, "i"));
    const session = await latest(1);
    assert.match(replica.requests[0]!.head, /^GET \/v1\/realtime\?model=m&x=1 HTTP/);
    client.say("hello");
    await session.until(({ texts }) => texts.length === 1);
    assert.deepEqual(session.texts, ["hello"]);
    session.say("hi");
    await client.until(({ texts }) => texts.length === 1);
    client.close(1000, "bye");
    await session.until(({ closing }) => closing !== "");
    session.close(1000, "bye");
    await client.gone();
    assert.equal(client.closing, "1000 bye");
    await assertIdle(router);
    await waitUntil(() => router.log.length === 1);
    console.log(router.log[0]);
  });
});
