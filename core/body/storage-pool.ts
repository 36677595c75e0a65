import { freeBytes } from "../runtime/free-memory.ts";

/**
 * Buffers for bodies are used again. New memory for each body would not be in the CPU's caches, and collecting it would be the
 * most expensive part of a large request.
 */
const SMALLEST = 4 * 1024;
/** The largest buffer that is kept for another body. */
export const LARGEST_KEPT = 4 * 1024 * 1024;
/** Most idle memory that is kept, all sizes together. */
const MOST_IDLE_BYTES = 32 * 1024 * 1024;
/**
 * Bytes in front of each buffer, in the same memory. The head that the body is sent with goes there, so that both leave in one write and
 * the body is not copied (see `writeRequest`). Longer heads are rare. No memory budget counts these bytes.
 */
const FRONT_BYTES = 2 * 1024;
/** A buffer of this size or more that is not kept is freed immediately, not left to the garbage collector. */
const LEAST_FREED_BYTES = 256 * 1024;

const idle = new Map<number, Uint8Array[]>();
let idleBytes = 0;

/** Memory of all idle buffers. */
export function idleStorageBytes(): number {
  return idleBytes;
}

/** Gives idle buffers back to the system, the largest first, until they take no more than `mostBytes`. */
export function trimStorage(mostBytes: number): void {
  for (let size = LARGEST_KEPT; size >= SMALLEST && idleBytes > mostBytes; size /= 2) {
    const list = idle.get(size) ?? [];
    while (list.length > 0 && idleBytes > mostBytes) {
      idleBytes -= size;
      freeStorage(list.pop()!);
    }
  }
}

/** A buffer with undefined content; `size` is one that `storageSize` returned. */
export function takeStorage(size: number): Uint8Array {
  const kept = idle.get(size)?.pop();
  if (kept === undefined) return new Uint8Array(Buffer.allocUnsafeSlow(FRONT_BYTES + size).buffer, FRONT_BYTES, size);
  idleBytes -= size;
  return kept;
}

/** Gives back a buffer from `takeStorage`; nothing may read or write it after this call. */
export function returnStorage(storage: Uint8Array): void {
  const size = storage.length;
  if (size < SMALLEST) return;
  if (size > LARGEST_KEPT || idleBytes + size > MOST_IDLE_BYTES) {
    freeStorage(storage);
    return;
  }
  const list = idle.get(size);
  if (list === undefined) idle.set(size, [storage]);
  else list.push(storage);
  idleBytes += size;
}

function freeStorage(storage: Uint8Array): void {
  if (storage.length >= LEAST_FREED_BYTES) freeBytes(storage);
}

/** The size of a buffer for so many bytes: the next power of two, so that few sizes exist; above the largest, exactly that many. */
export function storageSize(bytes: number): number {
  if (bytes > LARGEST_KEPT) return bytes;
  let size = SMALLEST;
  while (size < bytes) size *= 2;
  return size;
}
