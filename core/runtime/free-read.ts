/** To free less costs more than it saves. */
const LEAST_BYTES = 512;

/** `transfer` is ES2024; Node 20 does not have it. */
interface Transferable extends ArrayBuffer {
  transfer?(length: number): ArrayBuffer;
}

/**
 * Frees the memory of a read at once, if the read has an ArrayBuffer of its own. `chunk` is empty afterwards. The next read then gets
 * memory that is still in the CPU's cache. If it were left to the garbage collector, V8 would mark its whole heap every few dozen
 * requests with large bodies, which costs more than all the rest of such a request.
 */
export function freeRead(chunk: Buffer): void {
  const { buffer, length } = chunk;
  if (length < LEAST_BYTES || buffer.byteLength !== length) return;
  (buffer as Transferable).transfer?.(0);
}
