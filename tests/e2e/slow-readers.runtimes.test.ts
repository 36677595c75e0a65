/** Clients that read slowly, or not at all: only those that take nothing for writeTimeoutMs are let go. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { type Flood, flood } from "../support/flood.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatPost, STREAM, setUp } from "../support/scripted-pool.ts";

/** Longer than Bun's own client takes for what it reads at once. */
const LIMIT_MS = 1_500;
/** Three times the limit, in which the kernel takes more from the router once at most: its buffers hold some megabytes. */
const READ_FOR_MS = 4_500;
const BYTES_PER_SECOND = 400_000;
/** Far more than the router ever sends here. */
const EVENTS = 2_000;

/** Asks for a stream, and reads so many bytes of it per second for so long; then it stays and reads nothing. */
async function readSlowly(port: number, bytesPerSecond: number, forMs: number): Promise<{ socket: Socket; received: number }> {
  const socket = connect({ port, host: "127.0.0.1" });
  const reader = { socket, received: 0 };
  socket.on("error", () => {});
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    const stop = () => {
      socket.pause();
      resolve();
    };
    setTimeout(stop, forMs);
    socket.once("close", stop);
    socket.on("data", (chunk: Buffer) => {
      reader.received += chunk.length;
      const aheadMs = (reader.received / bytesPerSecond) * 1000 - (performance.now() - startMs);
      if (aheadMs <= 0) return;
      socket.pause();
      setTimeout(() => performance.now() - startMs < forMs && socket.resume(), aheadMs);
    });
    socket.write(chatPost(STREAM));
  });
  return reader;
}

describe("a client that reads a long response", () => {
  const isUnknown = process.platform === "linux" ? false : "only Linux tells what a peer has acknowledged";

  it("slowly gets more of it for long after the limit, and is let go once it stops", {
    timeout: 60_000,
    skip: isUnknown,
  }, async () => {
    const floods: Flood[] = [];
    const { router } = await setUp([flood(floods, EVENTS)], { spec: `  limits: { writeTimeoutMs: ${LIMIT_MS} }` });
    const { socket, received } = await readSlowly(router.port, BYTES_PER_SECOND, READ_FOR_MS);
    assert.equal(router.log.length, 0, `ended with ${router.log[0]?.ending} after ${received} bytes`);
    assert.ok(!socket.destroyed);
    await waitUntil(() => router.log.length === 1);
    assert.equal(router.log[0]!.ending, "client-left");
    await assertIdle(router);
    socket.destroy();
  });

  it("not at all is let go soon after the limit", { timeout: 60_000 }, async () => {
    const floods: Flood[] = [];
    const { router } = await setUp([flood(floods, EVENTS)], { spec: `  limits: { writeTimeoutMs: ${LIMIT_MS} }` });
    const { socket } = await readSlowly(router.port, BYTES_PER_SECOND, 1);
    const startMs = performance.now();
    await waitUntil(() => router.log.length === 1);
    assert.ok(performance.now() - startMs > LIMIT_MS / 2, "not at once");
    assert.equal(router.log[0]!.ending, "client-left");
    await assertIdle(router);
    socket.destroy();
  });
});

describe("a client that asks faster than it reads", () => {
  const ASKED = 1_000;
  const ADAPTERS = Array.from({ length: 100 }, (_, n) => `an-adapter-with-a-long-name-${n}`);

  it("waits, and gets every response once it reads", { timeout: 60_000 }, async () => {
    const { router } = await setUp([answerOk], { models: ADAPTERS });
    const socket = connect({ port: router.port, host: "127.0.0.1" });
    socket.pause();
    socket.write("GET /v1/models HTTP/1.1\r\nHost: test\r\n\r\n".repeat(ASKED));
    await waitUntil(() => router.log.length > 0);
    // Without a bound all of them are served within one turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(router.log.length < ASKED, `${router.log.length} responses wait in memory`);
    let responses = 0;
    let tail = "";
    socket.on("data", (chunk: Buffer) => {
      const pieces = (tail + chunk.toString("latin1")).split('"object":"list"');
      responses += pieces.length - 1;
      tail = pieces.at(-1)!.slice(-20);
    });
    socket.resume();
    await waitUntil(() => responses === ASKED);
    socket.destroy();
  });

  it("holds up nobody else, however fast it reads", { timeout: 60_000 }, async () => {
    const { router } = await setUp([answerOk]);
    const socket = connect({ port: router.port, host: "127.0.0.1" });
    socket.resume();
    socket.write("GET /v1/models HTTP/1.1\r\nHost: test\r\n\r\n".repeat(ASKED));
    await waitUntil(() => router.log.length > 0);
    assert.equal(readAnswer(await exchange(router.port, "GET /health HTTP/1.1\r\nHost: test\r\n\r\n")).status, 200);
    assert.ok(router.log.length < ASKED, "all of them were served first");
    socket.destroy();
  });
});
