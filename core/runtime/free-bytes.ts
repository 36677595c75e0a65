/** ES2024; Node 20 does not have it. */
interface Transferable extends ArrayBuffer {
  transfer?(length: number): ArrayBuffer;
}

/**
 * Gives a large buffer's memory back in this turn of the event loop; every view of it is empty at once. Left to the garbage collector, it would stay
 * until much more memory is asked for. Where buffers have no `transfer`, a message to a closed port takes the memory with it.
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
