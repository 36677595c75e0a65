import type { Socket } from "node:net";

/** Largest body that is copied together with its head into one write; a copy of this size is cheaper than a longer list. */
export const GATHER_BYTES = 16 * 1024;
/** Room for a head beside the body bytes. */
const SCRATCH_BYTES = GATHER_BYTES + 16 * 1024;

const UTF8 = new TextEncoder();

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
/** True where sockets keep what they are given until later (Deno): there is nothing to reuse. */
let isKept = false;

/**
 * A buffer to put one write together in, at least `bytes` long. It may be handed out again and again: whoever fills it must
 * pass it to `writeScratch` before anything else can happen.
 */
export function takeScratch(bytes: number): Buffer {
  return isKept || bytes > SCRATCH_BYTES ? Buffer.allocUnsafe(bytes) : scratch;
}

/**
 * Puts a head at the beginning of a buffer that has room for it; returns its length. Heads are latin1 and nearly always ASCII,
 * where UTF-8 is the same and costs, on Deno, a sixth.
 */
export function putHead(target: Buffer, head: string): number {
  const { read, written } = UTF8.encodeInto(head, target);
  const isAscii = read === head.length && written === head.length;
  return isAscii ? written : target.write(head, 0, "latin1");
}

/**
 * Writes the first `length` bytes of what `takeScratch` gave. Nearly always the kernel takes them at once and the same memory
 * serves the next write; otherwise the socket keeps it, and the next write gets another.
 */
export function writeScratch(socket: Socket, filled: Buffer, length: number): boolean {
  const wasEmpty = socket.writableLength === 0;
  const hasRoom = socket.write(filled.length === length ? filled : filled.subarray(0, length));
  if (filled !== scratch || socket.writableLength === 0) return hasRoom;
  // A socket that had nothing to write and keeps so little has not even tried.
  if (wasEmpty && length < 1024) isKept = true;
  scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  return hasRoom;
}
