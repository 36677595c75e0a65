import type { Socket } from "node:net";

/** Largest write that is put together in the scratch buffer; a copy of this size is cheaper than a second system call. */
export const GATHER_BYTES = 64 * 1024;
/** Room for a head beside the body bytes. */
const SCRATCH_BYTES = GATHER_BYTES + 64 * 1024;

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/**
 * A buffer to put one write together in, at least `bytes` long. It is handed out again and again: whoever fills it must
 * pass it to `writeScratch` before anything else can happen.
 */
export function takeScratch(bytes: number): Buffer {
  return bytes <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafeSlow(bytes);
}

/**
 * Writes the first `length` bytes of what `takeScratch` gave. Nearly always the kernel takes them at once and the same memory
 * serves the next write; otherwise the socket keeps it, and the next write gets a new one.
 */
export function writeScratch(socket: Socket, filled: Buffer, length: number): boolean {
  const hasRoom = socket.write(filled.subarray(0, length));
  if (filled === scratch && socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  return hasRoom;
}
