/** `transfer` is ES2024; Node 20 does not have it. */
interface Transferable extends ArrayBuffer {
  transfer?(length: number): ArrayBuffer;
}

/** To free less costs more than it saves. */
const LEAST_BYTES = 512;

/**
 * Gives a large buffer's memory back in this turn of the event loop; every view of it is empty at once. Left to the garbage collector,
 * it would stay until much more memory is asked for. Where buffers have no `transfer`, a message to a closed port takes the memory with it.
 */
export function freeBytes(bytes: Uint8Array): void {
  const buffer = bytes.buffer as Transferable;
  if (buffer.transfer !== undefined) {
    buffer.transfer(0);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(undefined, [buffer]);
  port1.close();
  port2.close();
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
