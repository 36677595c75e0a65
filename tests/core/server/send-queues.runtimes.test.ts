import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { describe, it } from "node:test";
import { unacknowledgedBytes } from "../../../core/server/send-queues.ts";
import { waitUntil } from "../../support/router.ts";

const isUnknown = process.platform === "linux" ? false : "only Linux tells";

describe("bytes that a peer has not acknowledged", () => {
  for (const host of ["127.0.0.1", "::1"]) {
    it(`are known of a connection to ${host}, and become fewer as it reads`, { skip: isUnknown }, async (t) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        socket.pause();
        peer = socket;
      });
      let peer: Socket | undefined;
      const isThere = await new Promise<boolean>((resolve) => {
        server.once("error", () => resolve(false));
        server.listen(0, host, () => resolve(true));
      });
      if (!isThere) return t.skip("there is no such address here");
      const socket = connect({ port: (server.address() as AddressInfo).port, host });
      socket.on("error", () => {});
      await waitUntil(() => socket.readyState === "open" && peer !== undefined);
      // Each time is another: the tables are read once for each.
      let nowMs = 0;
      const unacknowledged = () => unacknowledgedBytes(socket, ++nowMs);
      assert.equal(unacknowledged(), 0);
      socket.write(Buffer.alloc(16 * 1024 * 1024));
      await waitUntil(() => (unacknowledged() ?? 0) > 0);
      const queued = unacknowledged() ?? 0;
      assert.equal(unacknowledgedBytes(socket, nowMs), queued);
      peer?.resume();
      await waitUntil(() => unacknowledged() === 0);
      socket.destroy();
      peer?.destroy();
      server.close();
    });
  }

  it("are not known of what is no connection", () => assert.equal(unacknowledgedBytes(new Socket(), 1e9), undefined));
});
