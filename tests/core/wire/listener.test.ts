import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { silentLog } from "../../../core/contract/log.ts";
import { Crowding } from "../../../core/wire/crowding.ts";
import { startListener } from "../../../core/wire/listener.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { openClient } from "../../support/raw-client.ts";
import { waitUntil } from "../../support/router.ts";

async function setUp(maxConnections: number, isRenewed: boolean) {
  const clock = new FakeClock();
  const sockets = new Set<Socket>();
  const listener = await startListener({
    host: "127.0.0.1",
    port: 0,
    clock,
    maxConnections,
    crowding: new Crowding(silentLog),
    connectionCount: () => sockets.size,
    accept(socket) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
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
  return { clock, sockets, listener, isServed };
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

  it("rejects when its address is taken", async () => {
    const { listener, clock } = await setUp(2, false);
    const options = {
      host: "127.0.0.1",
      port: listener.port,
      clock,
      maxConnections: 2,
      crowding: new Crowding(silentLog),
      connectionCount: () => 0,
      accept: () => {},
    };
    await assert.rejects(startListener(options), { code: "EADDRINUSE" });
    await listener.close();
  });
});
