import type { Socket, SocketConstructorOpts } from "node:net";
import { isBun, PlainSocket } from "./plain-socket.ts";
import { readPastStream, readStream } from "./read-past-stream.ts";
import { readTurns } from "./read-turns.ts";

/** Most bytes of one read: a body of 64 KB and its head come in one. */
export const READ_BYTES = 128 * 1024;

/** All clients are read into this buffer: each read is used up before the next one begins. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/** A socket's undocumented handle of the connection itself. */
interface HandleOwner {
  _handle?: { readonly useUserBuffer?: unknown } | null;
}

/**
 * Starts to read a connection that was accepted and paused. `read` gets the bytes of each read, which are overwritten once it
 * returns. From then on use the socket that is returned, not `socket`.
 *
 * A socket reads into a given buffer only if it was made so (option `onread`), and a server makes its sockets without. So, on Node and
 * Deno, the connection moves to a socket that we make: without a new buffer for each read, a small request costs a tenth less. The
 * server's own socket stays, without a connection, and closes with ours, because the server counts it. On Bun, and over TLS, each read
 * has a new buffer; on Bun it does not pass through the stream.
 */
export function readAccepted(socket: Socket, read: (chunk: Buffer) => void): Socket {
  const owner = socket as HandleOwner;
  const handle = owner._handle;
  const isEncrypted = (socket as { encrypted?: boolean }).encrypted === true;
  if (isEncrypted || isBun || typeof handle?.useUserBuffer !== "function") {
    const paced = readTurns.pace(socket, read);
    if (isBun && !isEncrypted) readPastStream(socket, paced);
    else readStream(socket, paced);
    return socket;
  }
  owner._handle = null;
  const onread = {
    buffer: shared,
    callback(bytes: number, buffer: Uint8Array) {
      paced((buffer as Buffer).subarray(0, bytes));
      return true;
    },
  };
  const options = { handle, onread, allowHalfOpen: false };
  const moved = new PlainSocket(options as SocketConstructorOpts);
  const paced = readTurns.pace(moved, read);
  moved.once("close", () => socket.destroy());
  return moved;
}
