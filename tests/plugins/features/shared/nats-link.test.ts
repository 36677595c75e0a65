import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { silentLog } from "../../../../core/contract/log.ts";
import type { Link } from "../../../../core/pool/carrier.ts";
import { ANSWER_MS } from "../../../../plugins/features/shared/link.ts";
import { loadNats, natsStore } from "../../../../plugins/features/shared/nats-link.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const INFO = 'INFO {"server_id":"a","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}\r\n';

describe("a link by NATS", () => {
  it("that is closed while its server hangs lets the server go", { timeout: 20_000 }, async () => {
    let isHung = false;
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        if (!isHung && chunk.includes("PING")) socket.write("PONG\r\n");
      });
      socket.write(INFO);
    });
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    await loadNats();
    const clock = new FakeClock();
    const services = { clock, random: () => 1, log: silentLog };
    const store = natsStore({ url: `nats://127.0.0.1:${address.port}`, username: undefined, password: undefined });
    let link: Link | undefined;
    await new Promise<void>((up) => {
      link = store.open("signalbox:test", { received() {}, up, down() {}, lost() {} }, services);
    });
    isHung = true;
    link?.publish("a");
    link?.close();
    const ended = once(sockets[0]!, "close");
    await clock.advance(ANSWER_MS);
    await ended;
    assert.equal(sockets.length, 1);
    assert.equal(clock.pending, 0);
    server.close();
  });
});
