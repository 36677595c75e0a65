/**
 * Buffers for bodies are used again. New memory for each body would not be in the CPU's caches, and collecting it would be the
 * most expensive part of a large request.
 */
const SMALLEST = 4 * 1024;
const LARGEST = 4 * 1024 * 1024;
/** Most idle memory that is kept, all sizes together. */
const MOST_IDLE_BYTES = 32 * 1024 * 1024;

const idle = new Map<number, Uint8Array[]>();
let idleBytes = 0;

/** A buffer of at least `bytes` bytes with undefined content. */
export function takeStorage(bytes: number): Uint8Array {
  const size = sizeClass(bytes);
  const kept = idle.get(size)?.pop();
  if (kept === undefined) return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
  idleBytes -= size;
  return kept;
}

/** Gives back a buffer from `takeStorage` that nothing reads or writes any more. */
export function returnStorage(storage: Uint8Array): void {
  const size = storage.length;
  if (size < SMALLEST || size > LARGEST || idleBytes + size > MOST_IDLE_BYTES) return;
  const list = idle.get(size);
  if (list === undefined) idle.set(size, [storage]);
  else list.push(storage);
  idleBytes += size;
}

/** The next power of two, so that few sizes exist; above the largest, exactly what the body needs. */
function sizeClass(bytes: number): number {
  if (bytes > LARGEST) return bytes;
  let size = SMALLEST;
  while (size < bytes) size *= 2;
  return size;
}
