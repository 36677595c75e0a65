/** Clients and replicas that do anything at any time: nothing is left of them. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { seededRandom } from "../../core/test-kit.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";
import { frameBytes, openWebSocket, TEXT, type WebSocketEnd, webSocketScript } from "../support/websocket.ts";
import {
  create,
  REALTIME,
  RESPONSES,
  responseEvents,
  startWebSocketReplica,
  startWebSocketRouter,
  update,
} from "../support/websocket-pool.ts";

const SESSIONS = 120;
const AT_ONCE = 20;

const random = seededRandom(7);
const oneOf = <Each>(list: readonly Each[]): Each => list[Math.floor(random() * list.length)]!;

/** What an end may do. */
const DEEDS: readonly ((end: WebSocketEnd) => void)[] = [
  (end) => end.close(),
  (end) => void end.socket.end(),
  (end) => void end.socket.destroy(),
  // On Node 20 a socket that was ended before is never closed so.
  (end) => void (end.socket.writableEnded ? end.socket.destroy() : end.socket.resetAndDestroy()),
  (end) => void end.say("x".repeat(100_000)),
  (end) => void end.say(update("m")),
  (end) => void end.say(create("m")),
  (end) => void end.say(create("x", { pad: "x".repeat(100_000) })),
  (end) => void end.say(JSON.stringify({ type: "session.update", session: { model: "n" } })),
  (end) => void end.say(JSON.stringify(responseEvents("r", "m")[0])),
  (end) => void end.say('{"type":"response.completed","response":{}}'),
  (end) => void end.socket.write(frameBytes(TEXT, "half of this", true).subarray(0, 8)),
  (end) => void end.socket.write(Buffer.from("no frames at all, but bytes")),
  (end) => void end.socket.pause(),
];

function act(end: WebSocketEnd): void {
  for (let deeds = 1 + Math.floor(random() * 4); deeds > 0; deeds--) oneOf(DEEDS)(end);
}

it("leaves nothing behind, whatever both ends do", { timeout: 120_000 }, async () => {
  const wild = webSocketScript((end) => act(end));
  const replicas = await Promise.all([
    startWebSocketReplica(["m"], (request, socket) => {
      if (random() < 0.2) return void socket.destroy();
      if (random() < 0.1) return void socket.end("HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno");
      wild(request, socket);
    }),
    startWebSocketReplica(["m"]),
  ]);
  const router = await startWebSocketRouter(replicas, {
    spec: `  websockets: { firstMessageSeconds: 0.2, idleSeconds: 1, paths: [${REALTIME}, ${RESPONSES}] }\n  limits: { bodyTimeoutMs: 1000, responseTimeoutMs: 1000 }\n`,
  });
  const admin = await startTestAdmin(router.router);
  const session = async () => {
    const client = await openWebSocket(
      router.port,
      oneOf([REALTIME, RESPONSES, RESPONSES, `${REALTIME}?model=m`, `${REALTIME}?model=x`]),
    );
    if (client.status === 101) act(client);
    if (random() < 0.5) client.socket.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.resume();
    if (random() < 0.5) client.socket.destroy();
    await client.gone();
  };
  for (let done = 0; done < SESSIONS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, session));
  // Messages are POSTs.
  await waitUntil(() => router.log.filter(({ method }) => method === "GET").length === SESSIONS);
  await assertIdle(router);
  const { body } = await askFor(admin.port, "/metrics");
  assert.match(body, /^signalbox_websocket_connections 0$/m);
  await waitUntil(() => router.server.connections === 0);
  assert.equal(router.router.gate.memory.unreadBytes, 0);
  await waitUntil(() => replicas.every(({ sessions }) => sessions.every(({ isClosed }) => isClosed)));
  await admin.close();
});
