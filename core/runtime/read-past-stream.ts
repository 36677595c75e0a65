import type { Socket } from "node:net";
import { freeRead } from "./free-memory.ts";

/** Starts to read a connection. `read` gets the bytes of each read, which may be used until it returns; then their memory is freed. */
export function readStream(socket: Socket, read: (chunk: Buffer) => void): void {
  socket.on("data", (chunk: Buffer) => {
    read(chunk);
    freeRead(chunk);
  });
  socket.resume();
}

/**
 * The same on Bun, over bare TCP. Bun's sockets push each read through their stream, which takes longer than to read a small request:
 * while nobody has paused the socket, a read goes to `read` at once. What comes while it is paused waits in the stream, as usual.
 */
export function readPastStream(socket: Socket, read: (chunk: Buffer) => void): void {
  const push = socket.push;
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null || socket.isPaused() || socket.readableLength > 0) return push.call(socket, chunk, encoding);
    read(chunk);
    freeRead(chunk);
    // False stops the connection until the socket is resumed.
    return !socket.isPaused();
  };
  readStream(socket, read);
}
