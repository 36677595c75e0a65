import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { silentLog } from "../../../core/contract/log.ts";
import { Crowding } from "../../../core/server/crowding.ts";
import { startListener } from "../../../core/server/listener.ts";
import { WaitingRoom } from "../../../core/server/waiting-room.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { openClient } from "../../support/raw-client.ts";
import { waitUntil } from "../../support/router.ts";

/** How long a connection may wait for its turn. */
const LONGEST_MS = 5_000;

async function setUp(maxConnections: number, isRenewed: boolean, places = 0) {
  const clock = new FakeClock();
  const sockets = new Set<Socket>();
  const crowding = new Crowding(silentLog);
  const waitingRoom = new WaitingRoom(places, LONGEST_MS);
  const listener = await startListener({
    host: "127.0.0.1",
    port: 0,
    clock,
    maxConnections: () => maxConnections,
    waitingRoom,
    crowding,
    connectionCount: () => sockets.size,
    accept(socket) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        listener.ended();
      });
      socket.on("data", (chunk) => socket.write(chunk)).resume();
    },
    isRenewed,
  });
  const isServed = async () => {
    const client = await openClient(listener.port);
    client.send("x");
    const received = await client.until((text) => text === "x");
    return { client, isServed: received === "x" };
  };
  return { clock, sockets, listener, crowding, waitingRoom, isServed };
}

describe("a listener", () => {
  for (const isRenewed of [true, false]) {
    it(`that is ${isRenewed ? "" : "not "}reopened accepts up to its limit, and more once there is room`, async () => {
      const { clock, sockets, listener, isServed } = await setUp(2, isRenewed);
      const first = await isServed();
      const second = await isServed();
      assert.ok(first.isServed && second.isServed);
      assert.ok(!(await isServed()).isServed);
      second.client.destroy();
      await waitUntil(() => sockets.size === 1);
      await clock.advance(1_000);
      const third = await isServed();
      assert.ok(third.isServed);
      first.client.send("y");
      assert.equal(await first.client.until((text) => text === "xy"), "xy");

      let isClosed = false;
      const closed = listener.close().then(() => {
        isClosed = true;
      });
      third.client.destroy();
      await waitUntil(() => sockets.size === 1);
      assert.equal(isClosed, false, "the first connection is still open");
      first.client.destroy();
      await closed;
      await assert.rejects(openClient(listener.port));
      assert.equal(clock.pending, 0);
    });
  }

  it("lets connections wait for others to end, in their order, and closes those without a place", async () => {
    const { sockets, listener, crowding, isServed } = await setUp(1, false, 2);
    const first = await isServed();
    const waiting = [await openClient(listener.port), await openClient(listener.port)] as const;
    for (const client of waiting) client.send("w");
    assert.ok(!(await isServed()).isServed, "there is no place for a third");
    assert.deepEqual([sockets.size, crowding.pauses, waiting[0].received, waiting[0].isClosed], [1, 1, "", false]);
    first.client.destroy();
    assert.equal(await waiting[0].until((text) => text === "w"), "w");
    assert.deepEqual([sockets.size, waiting[1].received], [1, ""]);
    waiting[0].destroy();
    assert.equal(await waiting[1].until((text) => text === "w"), "w");
    waiting[1].destroy();
    await listener.close();
  });

  it("keeps no place for those that leave while they wait", async () => {
    const { sockets, listener, waitingRoom, isServed } = await setUp(1, false, 3);
    const first = await isServed();
    const leaving = [await openClient(listener.port), await openClient(listener.port), await openClient(listener.port)];
    await waitUntil(() => waitingRoom.size === leaving.length);
    for (const { socket } of leaving) socket.resetAndDestroy();
    // Bun notices it now, other runtimes once the connection is read.
    await new Promise((resolve) => setTimeout(resolve, 50));
    first.client.destroy();
    await waitUntil(() => waitingRoom.size === 0 && sockets.size === 0);
    const next = await isServed();
    assert.ok(next.isServed);
    next.client.destroy();
    await listener.close();
  });

  it("lets nobody wait for longer than it may, nor beyond its own end", async () => {
    const { clock, listener, waitingRoom, isServed } = await setUp(1, false, 2);
    const first = await isServed();
    const early = await openClient(listener.port);
    await waitUntil(() => waitingRoom.size === 1);
    await clock.advance(LONGEST_MS - 1_000);
    const late = await openClient(listener.port);
    await waitUntil(() => waitingRoom.size === 2);
    await clock.advance(1_000);
    assert.equal(await early.closed(), "");
    assert.equal(late.isClosed, false);
    const closed = listener.close();
    assert.equal(await late.closed(), "");
    first.client.destroy();
    await closed;
  });

  it("rejects when its address is taken", async () => {
    const { listener, clock } = await setUp(2, false);
    const options = {
      host: "127.0.0.1",
      port: listener.port,
      clock,
      maxConnections: () => 2,
      waitingRoom: new WaitingRoom(0, LONGEST_MS),
      crowding: new Crowding(silentLog),
      connectionCount: () => 0,
      accept: () => {},
    };
    await assert.rejects(startListener(options), { code: "EADDRINUSE" });
    await listener.close();
  });
});
