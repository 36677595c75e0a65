import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { readAccepted } from "../../../core/runtime/accepted-socket.ts";
import { openClient } from "../../support/raw-client.ts";
import { waitUntil } from "../../support/router.ts";

/** Listens on a free port. `accepted` gets each connection's socket, `read` the bytes of each read. */
async function listen(accepted: (socket: Socket) => void, read: (chunk: Buffer) => void): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, (socket) => accepted(readAccepted(socket, read)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe("an accepted connection", () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });

  it("is read byte for byte, also after a pause, and written to", async () => {
    const sent = "0123456789abcdef".repeat(40_000);
    let received = "";
    let socket: Socket | undefined;
    const server = await listen(
      (each) => {
        socket = each;
      },
      (chunk) => {
        const isFirst = received === "";
        received += chunk.toString("latin1");
        if (isFirst) socket?.pause();
      },
    );
    servers.push(server);
    const client = await openClient(portOf(server));
    client.send(sent);
    await waitUntil(() => received !== "");
    const whenPaused = received.length;
    socket?.write("paused");
    await client.until((text) => text === "paused");
    assert.equal(received.length, whenPaused, "nothing is read while it is paused");
    socket?.resume();
    await waitUntil(() => received.length === sent.length);
    assert.equal(received, sent);
    client.destroy();
  });

  it("reports that its client has left, and is counted by the server until then", async () => {
    let ends = 0;
    const server = await listen(
      (socket) => {
        socket.on("end", () => {
          ends += 1;
          socket.destroy();
        });
        socket.on("error", () => {});
      },
      () => {},
    );
    const client = await openClient(portOf(server));
    client.send("x");
    const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
    while ((await connections()) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    let isClosed = false;
    server.close(() => {
      isClosed = true;
    });
    assert.equal(isClosed, false);
    client.destroy();
    await waitUntil(() => isClosed);
    assert.ok(ends <= 1);
  });
});
