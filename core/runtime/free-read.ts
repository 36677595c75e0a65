/** Smaller reads are not worth it. */
const LEAST_BYTES = 512;

/** ES2024; Node 20 does not have it. */
interface Transferable extends ArrayBuffer {
  transfer?(length: number): ArrayBuffer;
}

/**
 * Gives a read's memory back at once where it is the read's own, so that the next read gets memory that is still in the cache.
 * Left to the garbage collector, the reads of large bodies would also make V8 mark its whole heap every few dozen requests,
 * which costs more than all else that is done for them. Nobody may look at `chunk` afterwards.
 */
export function freeRead(chunk: Buffer): void {
  const { buffer, length } = chunk;
  if (length < LEAST_BYTES || buffer.byteLength !== length) return;
  (buffer as Transferable).transfer?.(0);
}
