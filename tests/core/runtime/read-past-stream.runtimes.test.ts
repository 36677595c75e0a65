import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { isBun } from "../../../core/runtime/plain-socket.ts";
import { readPastStream } from "../../../core/runtime/read-past-stream.ts";

const LENGTH = 3_000_000;
const sent = Buffer.from(Uint8Array.from({ length: LENGTH }, (_, at) => at % 251));

/** Sends all to a socket that is read past its stream; `read` sees each piece. Resolves to what came, once the sender's end has come. */
async function receive(read: (socket: Socket, pieces: number) => void): Promise<Buffer> {
  const server = createServer((sender) => sender.end(sent)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const pieces: Buffer[] = [];
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  readPastStream(socket, (chunk) => {
    pieces.push(Buffer.from(chunk));
    read(socket, pieces.length);
  });
  await once(socket, "end");
  socket.destroy();
  server.close();
  return Buffer.concat(pieces);
}

/** Node and Deno read into a buffer of ours; what a stopped socket needs to go on differs there. */
const skip = isBun ? false : "only Bun reads so";
const resumeLater = (socket: Socket) => void setImmediate(() => socket.resume());

describe("a connection that is read past its stream brings all bytes in order, and its end", () => {
  const cases: Record<string, (socket: Socket, pieces: number) => void> = {
    "when nobody pauses it": () => {},
    "when it is paused in a read": (socket) => {
      socket.pause();
      resumeLater(socket);
    },
    "when it is paused in a read, and resumed in the same one": (socket) => {
      socket.pause();
      socket.resume();
    },
    "when it is paused between reads": (socket, pieces) => {
      if (pieces % 3 !== 0) return;
      setImmediate(() => {
        socket.pause();
        resumeLater(socket);
      });
    },
  };
  for (const [name, read] of Object.entries(cases)) {
    it(name, { timeout: 20_000, skip }, async () => {
      assert.ok((await receive(read)).equals(sent));
    });
  }
});

it("a socket that stays paused stops its sender", { timeout: 20_000, skip }, async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let bytes = 0;
  readPastStream(socket, (chunk) => {
    bytes += chunk.length;
    socket.pause();
  });
  const [sender] = await accepted;
  const piece = Buffer.alloc(1_000_000);
  while (sender.write(piece));
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(sender.writableLength > 0 || bytes < piece.length);
  assert.ok(socket.readableLength + bytes < 2_000_000, `${bytes} bytes read, ${socket.readableLength} wait`);
  socket.destroy();
  sender.destroy();
  server.close();
});
