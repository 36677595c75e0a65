import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { silentLog } from "../../../../core/contract/log.ts";
import { ANSWER_MS, RETRY_MS } from "../../../../plugins/features/shared/link.ts";
import { loadNats, natsStore } from "../../../../plugins/features/shared/nats-link.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { waitUntil } from "../../../support/router.ts";

const MAX_PAYLOAD = 4_096;
const INFO = `INFO {"server_id":"a","version":"2.10.0","proto":1,"headers":true,"max_payload":${MAX_PAYLOAD}}\r\n`;

/** A server of so much of NATS as a link needs. `isSilent`: it takes connections and says nothing. */
async function serve() {
  const state = { isSilent: false, isHung: false, received: "", sockets: [] as Socket[] };
  const server = createServer((socket) => {
    state.sockets.push(socket);
    socket.on("error", () => {});
    socket.on("close", () => state.sockets.splice(state.sockets.indexOf(socket), 1));
    socket.on("data", (chunk) => {
      state.received += chunk.toString();
      if (!state.isHung && chunk.includes("PING")) socket.write("PONG\r\n");
    });
    if (!state.isSilent) socket.write(INFO);
  });
  server.listen({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  await loadNats();
  const clock = new FakeClock();
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const store = natsStore({ url: `nats://127.0.0.1:${address.port}`, username: undefined, password: undefined });
  const told = { ups: 0, downs: [] as string[], lost: 0 };
  const events = {
    received() {},
    up: () => void told.ups++,
    down: (why: string) => void told.downs.push(why),
    lost: () => void told.lost++,
  };
  const open = () => store.open("signalbox:test", events, { clock, random: () => 1, log });
  return { state, clock, told, warned, open, close: () => server.close() };
}

describe("a link by NATS", () => {
  it("that is closed while its server hangs lets the server go", { timeout: 20_000 }, async () => {
    const { state, clock, told, open, close } = await serve();
    const link = open();
    await waitUntil(() => told.ups === 1);
    state.isHung = true;
    link.publish("a");
    link.close();
    await clock.advance(ANSWER_MS);
    await waitUntil(() => state.sockets.length === 0);
    assert.equal(clock.pending, 0);
    close();
  });

  it("leaves no connection to a server that says nothing, and is up when it speaks again", { timeout: 20_000 }, async () => {
    const { state, clock, told, open, close } = await serve();
    state.isSilent = true;
    const link = open();
    for (let tries = 1; tries <= 2; tries++) {
      await waitUntil(() => told.downs.length === tries);
      await waitUntil(() => state.sockets.length === 0);
      state.isSilent = tries === 1;
      await clock.advance(RETRY_MS);
    }
    assert.match(told.downs[0]!, /says nothing/);
    await waitUntil(() => told.ups === 1);
    link.close();
    await waitUntil(() => state.sockets.length === 0);
    close();
  });

  it("connects again when its connection is closed", { timeout: 20_000 }, async () => {
    const { state, clock, told, open, close } = await serve();
    const link = open();
    await waitUntil(() => told.ups === 1);
    for (const socket of state.sockets) socket.destroy();
    await waitUntil(() => told.downs.length === 1);
    await waitUntil(() => clock.pending === 1);
    await clock.advance(RETRY_MS);
    await waitUntil(() => told.ups === 2);
    link.close();
    await waitUntil(() => state.sockets.length === 0);
    close();
  });

  it("loses what is longer than the server takes, says so once, and stays up", { timeout: 20_000 }, async () => {
    const { state, told, warned, open, close } = await serve();
    const link = open();
    await waitUntil(() => told.ups === 1);
    link.publish("x".repeat(MAX_PAYLOAD + 1));
    link.publish("x".repeat(MAX_PAYLOAD + 1));
    link.publish("short enough");
    await waitUntil(() => state.received.includes("short enough"));
    assert.deepEqual([told.lost, told.downs, warned.length], [2, [], 1]);
    assert.match(warned[0]!, /raise its max_payload/);
    link.close();
    await waitUntil(() => state.sockets.length === 0);
    close();
  });
});
