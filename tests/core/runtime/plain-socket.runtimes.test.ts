import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { PlainSocket } from "../../../core/runtime/plain-socket.ts";
import { waitUntil } from "../../support/router.ts";

const digest = (parts: readonly Uint8Array[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

/** Bytes without repetition, so that a piece in the wrong place shows. */
function bytesOf(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

describe("a plain socket", () => {
  let server: Server;
  /** The other end of the connection opened last. */
  let peer: Socket | undefined;
  let received: Buffer[] = [];
  const sockets: Socket[] = [];

  before(async () => {
    server = createServer({ pauseOnConnect: true }, (socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.on("data", (chunk) => received.push(Buffer.from(chunk)));
      socket.pause();
      peer = socket;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  async function open(): Promise<{ socket: PlainSocket; other: Socket }> {
    peer = undefined;
    received = [];
    const socket = new PlainSocket();
    sockets.push(socket);
    socket.on("error", () => {});
    socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
    await waitUntil(() => socket.readyState === "open" && peer !== undefined);
    return { socket, other: peer! };
  }

  const receivedBytes = () => received.reduce((sum, chunk) => sum + chunk.length, 0);

  it("sends small writes at once and in order, between those of the stream", async () => {
    const { socket, other } = await open();
    other.resume();
    const written: Buffer[] = [];
    for (let round = 0; round < 500; round++) {
      const bytes = bytesOf(1 + (round % 700), round + 1);
      written.push(bytes);
      if (round % 7 === 3) socket.write(bytes);
      else socket.send(bytes);
    }
    const total = written.reduce((sum, bytes) => sum + bytes.length, 0);
    await waitUntil(() => receivedBytes() === total);
    assert.equal(digest(received), digest(written));
  });

  it("keeps what the kernel does not take, returns false, and emits drain once it is sent", async () => {
    const { socket, other } = await open();
    let drains = 0;
    socket.on("drain", () => {
      drains += 1;
    });
    const first = bytesOf(12 * 1024 * 1024, 1);
    const rest = [bytesOf(300, 2), bytesOf(70_000, 3), bytesOf(1, 4)];
    assert.equal(socket.send(first), false, "the kernel takes no twelve megabytes while nobody reads");
    assert.ok(socket.writableLength > 0);
    for (const bytes of rest) assert.equal(socket.send(bytes), false);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(drains, 0);
    other.resume();
    const total = first.length + rest.reduce((sum, bytes) => sum + bytes.length, 0);
    await waitUntil(() => receivedBytes() === total && drains > 0);
    assert.equal(digest(received), digest([first, ...rest]));
    assert.equal(drains, 1);
    assert.equal(socket.writableLength, 0);
    assert.equal(socket.send(bytesOf(10, 5)), true, "it is free again");
    await waitUntil(() => receivedBytes() === total + 10);
  });

  it("sends all of it before it ends", async () => {
    const { socket, other } = await open();
    let isEnded = false;
    other.on("end", () => {
      isEnded = true;
    });
    const large = bytesOf(12 * 1024 * 1024, 6);
    socket.send(large);
    socket.end();
    other.resume();
    await waitUntil(() => isEnded);
    assert.equal(digest(received), digest([large]));
  });

  it("closes, and emits close once, when the other end is gone in the middle of a write", async () => {
    const { socket, other } = await open();
    let closes = 0;
    socket.on("close", () => {
      closes += 1;
    });
    socket.send(bytesOf(12 * 1024 * 1024, 7));
    other.resetAndDestroy();
    await waitUntil(() => closes === 1);
    assert.equal(socket.destroyed, true);
    socket.send(bytesOf(10, 8));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(closes, 1);
  });

  it("fails as a stream does when the other end had gone before the write", async () => {
    const { socket, other } = await open();
    let isClosed = false;
    socket.on("close", () => {
      isClosed = true;
    });
    socket.resume();
    other.resetAndDestroy();
    for (let round = 0; !isClosed && round < 10_000; round++) {
      socket.send(bytesOf(100, round));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(isClosed, true);
  });

  const isNode = process.versions.bun === undefined && process.versions["deno"] === undefined;
  it("loads where deprecations are errors", { skip: !isNode }, async () => {
    const flags = ["--pending-deprecation", "--throw-deprecation", "--import", "tsx"];
    const script = `import(${JSON.stringify(new URL("../../../core/runtime/plain-socket.ts", import.meta.url).href)})`;
    await promisify(execFile)(process.execPath, [...flags, "-e", script]);
  });

  it("writes nothing after its end", async () => {
    const { socket, other } = await open();
    other.resume();
    socket.send(bytesOf(10, 9));
    socket.end();
    socket.send(bytesOf(1000, 10));
    await waitUntil(() => socket.destroyed);
    assert.ok(receivedBytes() <= 10);
  });
});
