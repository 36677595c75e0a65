/** How WebSockets end, and what happens while an end takes nothing. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTestConfig, readyCount, waitUntil } from "../support/router.ts";
import { assertIdle } from "../support/scripted-pool.ts";
import { BINARY, frameBytes, openWebSocket, TEXT, type WebSocketEnd, webSocketScript } from "../support/websocket.ts";
import { logLine, REALTIME, startWebSocketReplica, startWebSocketRouter, update } from "../support/websocket-pool.ts";

const MB = 1024 * 1024;
const QUERY = `${REALTIME}?model=m`;

async function setUp(spec = "  websockets: {}", replicas = 1) {
  const all = await Promise.all(Array.from({ length: replicas }, () => startWebSocketReplica(["m"])));
  const router = await startWebSocketRouter(all, { spec });
  return { router, replicas: all, replica: all[0]! };
}

/** Sends until nothing more is taken for a while; returns the bytes that were sent. */
async function fill(end: WebSocketEnd): Promise<number> {
  const frame = frameBytes(BINARY, Buffer.alloc(64 * 1024), true);
  let sent = 0;
  let idleTurns = 0;
  while (idleTurns < 40 && sent < 256 * MB) {
    if (end.socket.writableLength === 0) {
      idleTurns = 0;
      end.socket.write(frame);
      sent += frame.length;
    } else idleTurns += 1;
    await new Promise((resolve) => setTimeout(resolve, end.socket.writableLength === 0 ? 0 : 10));
  }
  return sent;
}

describe("a replica that breaks a WebSocket off", () => {
  it("has failed: the client is told between two frames, and it is ejected as for streams", async () => {
    const mean = await startWebSocketReplica(
      ["m"],
      webSocketScript(({ socket }) => void socket.end()),
    );
    const good = await startWebSocketReplica(["m"]);
    const router = await startWebSocketRouter([mean, good]);
    for (let opened = 0; readyCount(router.router) === 2; opened++) {
      assert.ok(opened < 100, "it is never ejected");
      const before = good.sessions.length;
      const client = await openWebSocket(router.port, QUERY);
      await client.until(({ closing }) => closing !== "" || good.sessions.length > before);
      if (client.closing !== "") assert.match(client.closing, /^1011 /);
      client.socket.destroy();
    }
    const line = router.log.find(({ ending }) => ending === "broken")!;
    assert.deepEqual([line.status, line.error, line.attempts[0]!.result], [101, "upstream_reset", "reset"]);
    await assertIdle(router);
  });

  it("ends the client's connection without a word inside of a frame", async () => {
    const { router, replica } = await setUp();
    const client = await openWebSocket(router.port, QUERY);
    const session = await replica.session(1);
    session.socket.end(frameBytes(TEXT, "never whole", false).subarray(0, 7));
    await client.gone();
    assert.equal(client.closing, "");
    assert.equal(client.receivedBytes, 7);
    assert.equal((await logLine(router, 1)).ending, "broken");
  });

  it("has done nothing wrong after a Close", async () => {
    const { router, replica } = await setUp();
    const client = await openWebSocket(router.port, QUERY);
    const session = await replica.session(1);
    session.close(1012, "restart");
    session.socket.end();
    await client.gone();
    assert.equal(client.closing, "1012 restart");
    assert.equal((await logLine(router, 1)).ending, "complete");
  });

  it("is waited for five seconds after the client's Close", { timeout: 60_000 }, async () => {
    const { router, replica } = await setUp();
    const client = await openWebSocket(router.port, QUERY);
    await replica.session(1);
    client.close();
    await client.gone();
    assert.equal((await logLine(router, 1)).ending, "complete");
    await replica.sessions[0]!.gone();
  });
});

describe("a replica that is silent on a WebSocket", () => {
  it("is not taken for one that makes no progress, and its sessions are no measure of silence", async () => {
    const silence = "{ type: no-progress, parameters: { maxSilenceMs: 300 } }";
    const { router } = await setUp(`  websockets: {}\n  plugins: [ ${silence} ]`, 2);
    const client = await openWebSocket(router.port, QUERY);
    const beganMs = performance.now();
    while (performance.now() - beganMs < 2_000) {
      assert.equal(readyCount(router.router), 2);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    client.socket.destroy();
    await assertIdle(router);
  });
});

describe("a client that leaves", () => {
  it("frees the replica, and has left if it said nothing", async () => {
    const { router, replica } = await setUp();
    for (const [at, says] of [false, true].entries()) {
      const client = await openWebSocket(router.port, QUERY);
      const session = await replica.session(at + 1);
      if (says) client.close();
      client.socket.end();
      await session.gone();
      await waitUntil(() => router.log.length === at + 1);
      assert.equal(router.log[at]!.ending, says ? "complete" : "client-left");
    }
    await assertIdle(router);
  });
});

describe("a WebSocket on which nothing passes", () => {
  it("ends after the idle time, which pings prolong", async () => {
    const { router, replica } = await setUp("  websockets: { idleSeconds: 1 }");
    const client = await openWebSocket(router.port, QUERY);
    const session = await replica.session(1);
    const beganMs = performance.now();
    while (performance.now() - beganMs < 2_000) {
      client.say("", 9);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.equal(client.isClosed, false);
    await client.gone();
    assert.match(client.closing, /^1001 /);
    await session.gone();
    assert.equal((await logLine(router, 1)).error, "request_timeout");
  });
});

describe("a router that stops", () => {
  it("lets WebSockets go on for the drain's time, then says that it leaves", async () => {
    const { router, replica } = await setUp();
    const clients = await Promise.all([openWebSocket(router.port, QUERY), openWebSocket(router.port, QUERY)]);
    const silent = await openWebSocket(router.port, REALTIME);
    await replica.session(2);
    const drained = router.server.drain(600);
    clients[0]!.say("still");
    await waitUntil(() => replica.sessions.some(({ texts }) => texts.length === 1));
    await Promise.all([...clients, silent].map((client) => client.gone()));
    for (const client of [...clients, silent]) assert.match(client.closing, /^1001 The router stops/);
    await drained;
    await assertIdle(router);
  });

  it("has stopped as soon as the last one ends", async () => {
    const { router, replica } = await setUp();
    const client = await openWebSocket(router.port, QUERY);
    const session = await replica.session(1);
    const drained = router.server.drain(60_000);
    client.close();
    await session.until(({ closing }) => closing !== "");
    session.close();
    await drained;
    assert.equal((await logLine(router, 1)).ending, "complete");
  });
});

describe("another config", () => {
  it("leaves open WebSockets as they are", async () => {
    const { router, replica } = await setUp();
    const client = await openWebSocket(router.port, QUERY);
    const session = await replica.session(1);
    router.router.replace(await loadTestConfig([replica.url]));
    client.say("still");
    await session.until(({ texts }) => texts.length === 1);
    assert.equal((await openWebSocket(router.port, "/v1/responses")).status, 426);
    client.socket.destroy();
    await session.gone();
    await waitUntil(() => router.router.olderConfigs === 0);
  });
});

describe("an end that does not read", () => {
  it("stops the other one, whichever it is, and gets every byte once it reads on", { timeout: 120_000 }, async () => {
    const { router, replica } = await setUp();
    const client = await openWebSocket(router.port, QUERY);
    const session = await replica.session(1);
    const pairs = [
      [client, session],
      [session, client],
    ] as const;
    for (const [writer, reader] of pairs) {
      reader.countsOnly = true;
      reader.socket.pause();
      const sent = await fill(writer);
      assert.ok(sent < 64 * MB, `${sent} bytes were taken`);
      assert.ok(router.router.gate.memory.unreadBytes < 2 * MB, "they wait in the router");
      const before = reader.receivedBytes;
      reader.socket.resume();
      await waitUntil(() => reader.receivedBytes - before >= sent);
      assert.equal(reader.receivedBytes - before, sent);
    }
    client.socket.destroy();
    await assertIdle(router);
  });

  it("costs nothing but a bound before it is known where to go", async () => {
    const { router } = await setUp();
    const client = await openWebSocket(router.port, REALTIME);
    client.socket.pause();
    client.say(update("nobody"));
    const line = await logLine(router, 1);
    assert.equal(line.status, 404);
    client.socket.resume();
    await client.gone();
    assert.match(client.closing, /^1008 /);
  });
});
