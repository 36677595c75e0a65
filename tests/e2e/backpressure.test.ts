import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { openClient, type RawClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { assertIdle, chatPost, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const MB = 1024 * 1024;
const FILLER = "x".repeat(16_000);
const event = (n: number) => `data: ${n} ${FILLER}\n\n`;

/** A replica's side of one flood. */
interface Flood {
  /** Bytes the kernel has taken. */
  readonly sentBytes: number;
}

/** Streams so many numbered events as fast as they are taken. */
function flood(floods: Flood[], events: number): Script {
  return (_request, socket) => {
    const before = socket.bytesWritten;
    floods.push({
      get sentBytes() {
        return socket.bytesWritten - before - socket.writableLength;
      },
    });
    let next = 0;
    const more = () => {
      while (next < events && !socket.destroyed) {
        if (!socket.write(chunkOf(event(next++)))) return void socket.once("drain", more);
      }
      socket.write(LAST_CHUNK);
    };
    socket.write(STREAM_HEAD);
    more();
  };
}

/** What all floods have sent, once it stays the same for a while. */
async function standstill(floods: readonly Flood[]): Promise<number> {
  let last = Number.NaN;
  let sinceMs = 0;
  await waitUntil(() => {
    const sum = floods.reduce((total, { sentBytes }) => total + sentBytes, 0);
    if (sum !== last) sinceMs = performance.now();
    last = sum;
    return performance.now() - sinceMs > 300;
  }, 30_000);
  return last;
}

/** Asks for a stream and reads nothing of it. */
async function stalledClient(port: number): Promise<RawClient> {
  const client = await openClient(port);
  client.socket.removeAllListeners("data");
  client.socket.pause();
  client.send(chatPost(STREAM, "Connection: close\r\n"));
  return client;
}

/** Reads everything up to the end of the connection. */
function readOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.once("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.resume();
  });
}

describe("a client that does not read", () => {
  it("stops the replica within 16 MB and gets every byte once it reads on", { timeout: 60_000 }, async () => {
    const events = 4_000;
    const floods: Flood[] = [];
    const { router } = await setUp([flood(floods, events)]);
    const client = await stalledClient(router.port);
    await waitUntil(() => floods.length === 1);
    const sent = await standstill(floods);
    assert.ok(sent < 16 * MB, `${sent} bytes were sent to nobody`);
    const answer = wholeAnswer(await readOn(client.socket));
    assert.ok(answer.isComplete);
    // Not assert.equal, which would print both.
    assert.ok(answer.body === Array.from({ length: events }, (_, n) => event(n)).join(""));
    await assertIdle(router);
    assert.equal(router.log[0]!.ending, "complete");
  });

  it("costs the router at most 1 MiB of memory", { timeout: 60_000 }, async () => {
    const floods: Flood[] = [];
    const replica = await startScriptedReplica(flood(floods, 20_000));
    const router = await startRouterProcess([replica.url]);
    after(async () => {
      router.kill("SIGKILL");
      await replica.close();
    });
    /** Stalls so many streams and says how much the process has grown by then. */
    const stall = async (count: number) => {
      floods.length = 0;
      const before = router.residentBytes;
      const clients = await Promise.all(Array.from({ length: count }, () => stalledClient(router.port)));
      await waitUntil(() => floods.length === count);
      const sent = await standstill(floods);
      assert.ok(sent < count * 16 * MB, `${sent / count} bytes were sent to nobody`);
      const grown = router.residentBytes - before;
      for (const { socket } of clients) socket.destroy();
      await waitUntil(() => replica.sockets.size === 0);
      return grown;
    };
    await stall(4);
    const streams = 24;
    const grown = await stall(streams);
    console.log("GROWN", grown / MB / streams);
    assert.ok(grown < streams * MB, `${grown / streams} bytes per stream`);
  });
});
