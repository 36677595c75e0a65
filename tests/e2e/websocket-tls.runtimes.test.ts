/** WebSockets with TLS on both sides of the router. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, describe, it } from "node:test";
import { connect } from "node:tls";
import { certificateFolder, makeAuthority, selfSigned } from "../support/certificates.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";
import { startTlsFront } from "../support/tls-front.ts";
import { openWebSocket, type WebSocketEnd } from "../support/websocket.ts";
import { REALTIME, startWebSocketReplica, startWebSocketRouter } from "../support/websocket-pool.ts";

const LONG = randomBytes(3 * 1024 * 1024);

const folder = certificateFolder();
folder.write("router", makeAuthority("authority.test").issue({ names: ["127.0.0.1"] }));
const replica = await startWebSocketReplica(["m"]);
const front = await startTlsFront(replica.url, selfSigned({ names: ["x"] }));
after(async () => {
  await front.close();
  await replica.close();
  folder.remove();
});
const router = await startWebSocketRouter([{ ...replica, url: front.url, close: async () => {} }], {
  spec: "  websockets: {}\n  pool: { tls: { insecure: true } }",
  tls: `{ certFile: ${folder.at("router.crt")}, keyFile: ${folder.at("router.key")} }`,
});

const open = (path: string): Promise<WebSocketEnd> =>
  openWebSocket(router.port, path, {
    socket: connect({ port: router.port, host: "127.0.0.1", rejectUnauthorized: false }),
  });

describe("a WebSocket over TLS", () => {
  it("carries every byte both ways, also to an end that does not read for a while", { timeout: 60_000 }, async () => {
    const client = await open(`${REALTIME}?model=m`);
    assert.equal(client.status, 101);
    const session = await replica.session(1);
    client.socket.pause();
    session.say(LONG);
    client.say(LONG);
    await session.until(({ frames }) => frames.length === 1);
    client.socket.resume();
    await client.until(({ frames }) => frames.length === 1);
    for (const end of [client, session]) assert.ok(end.frames[0]!.payload.equals(LONG));
    client.close();
    await session.until(({ closing }) => closing !== "");
    session.close();
    await client.gone();
    await assertIdle(router);
  });

  it("tells the client that its replica has gone", async () => {
    const client = await open(REALTIME);
    client.say('{"type":"session.update","model":"m"}');
    const session = await replica.session(2);
    session.socket.destroy();
    await client.gone();
    assert.match(client.closing, /^1011 /);
    await waitUntil(() => router.log.length === 2);
    assert.equal(router.log[1]!.ending, "broken");
  });
});
