import type { Socket } from "node:net";
import { freeRead } from "./free-memory.ts";

/** Starts to read a connection. `read` must not keep a chunk: its memory may be freed when `read` returns. */
export function readStream(socket: Socket, read: (chunk: Buffer) => void): void {
  socket.on("data", (chunk: Buffer) => {
    read(chunk);
    freeRead(chunk);
  });
  socket.resume();
}

/**
 * `readStream` for Bun, without TLS. Bun's sockets push each chunk through their stream, and that takes longer than what is done with a
 * small request's bytes. Here a chunk goes straight to `read`, unless the socket is paused: then it waits in the stream, as usual.
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
  // For what waited in the stream, and to start.
  readStream(socket, read);
}
