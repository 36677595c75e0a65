import type { Socket, SocketConstructorOpts } from "node:net";
import { READ_BYTES } from "../wire/open-socket.ts";
import { freeRead } from "./free-read.ts";
import { PlainSocket } from "./plain-socket.ts";

/** One buffer for the reads of all clients: each read is used up before the next one begins. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/** The part of a socket that node:net does not document: what stands for the connection itself. */
interface HandleOwner {
  _handle?: { readonly useUserBuffer?: unknown } | null;
}

/**
 * Reads a connection that was accepted and paused; `read` gets each read's bytes, which are overwritten once it returns.
 * Use the socket that is returned.
 *
 * Sockets read into a buffer of ours only if they are told so when they are made (onread), and servers make theirs without. So
 * the connection moves to a socket of our own, where the runtime lets it (Node, Deno): without a fresh buffer for each read, a
 * small request costs a tenth less. The server's own socket stays behind, without a connection, so that the server goes on counting it.
 */
export function readAccepted(socket: Socket, read: (chunk: Buffer) => void): Socket {
  const owner = socket as HandleOwner;
  const handle = owner._handle;
  if (typeof handle?.useUserBuffer !== "function") return readFresh(socket, read);
  owner._handle = null;
  const onread = {
    buffer: shared,
    callback(bytes: number, buffer: Uint8Array) {
      read((buffer as Buffer).subarray(0, bytes));
      return true;
    },
  };
  const options = { handle, onread, allowHalfOpen: false };
  const moved = new PlainSocket(options as SocketConstructorOpts);
  moved.once("close", () => socket.destroy());
  return moved;
}

function readFresh(socket: Socket, read: (chunk: Buffer) => void): Socket {
  socket.on("data", (chunk: Buffer) => {
    read(chunk);
    freeRead(chunk);
  });
  socket.resume();
  return socket;
}
