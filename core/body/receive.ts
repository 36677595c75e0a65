import { RouterError } from "../contract/errors.ts";
import type { MemoryBudget, Upload } from "./memory-budget.ts";
import { LARGEST_KEPT, returnStorage, storageSize, takeStorage } from "./storage-pool.ts";

/** Up to this size memory is taken for the declared length at once; beyond it, only as bytes come. */
const TRUSTED_BYTES = 1024 * 1024;
/** The system gives a large buffer memory only where it is written, so it counts as it is filled, in steps of this size. */
const COUNTED_BYTES = 1024 * 1024;
/**
 * What a large body of unknown length gets. Allocators give such sizes back to the system at once; smaller ones, of which a growing
 * body would leave several behind, stay with them as holes.
 */
const UNKNOWN_BYTES = 33 * 1024 * 1024;
const EMPTY = new Uint8Array(0);

/** The part of a request that ends it. */
export interface BodyOwner {
  failed(error: RouterError): void;
}

/** A further reader of a complete body. */
export interface BodyHold {
  /** This reader is done. `isFree`: it is certain that no socket still has to write the body for it. A second call does nothing. */
  giveBack(isFree: boolean): void;
}

/** Gathers a request body in one contiguous buffer. It copies, so that a read's memory can be used for the next read. */
export class BodyBuffer implements Upload {
  readonly #declared: number;
  readonly #maxBytes: number;
  readonly #memory: MemoryBudget;
  readonly #owner: BodyOwner;
  #storage: Uint8Array = EMPTY;
  #length = 0;
  #heldBytes = 0;
  #isArriving = false;
  #holds = 0;
  /** The request itself is done with the body, and others still read it. */
  #isLeft = false;
  #isFree = true;

  /**
   * `declared` is the Content-Length, or -1 if the length is not known before the end. Throws RouterError: 413 when it is larger
   * than `maxBytes`, 503 when there is no memory for it.
   */
  constructor(declared: number, maxBytes: number, memory: MemoryBudget, owner: BodyOwner) {
    this.#declared = declared;
    this.#maxBytes = Math.min(maxBytes, memory.limitBytes);
    this.#memory = memory;
    this.#owner = owner;
    if (declared > this.#maxBytes) throw bodyTooLarge(this.#maxBytes);
    memory.announced(Math.max(0, declared));
  }

  get length(): number {
    return this.#length;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The buffer that holds the body in its first `length` bytes. `append` may replace it by a larger one. */
  get storage(): Uint8Array {
    return this.#storage;
  }

  /** Bytes in front of the body, in the same memory, that nothing else uses. */
  get frontBytes(): number {
    return this.#storage.byteOffset;
  }

  /** The bytes of the body so far. */
  get bytes(): Uint8Array {
    return this.#storage.length === this.#length ? this.#storage : this.#storage.subarray(0, this.#length);
  }

  /** Adds a copy of chunk[start, end). Throws RouterError: 413 when the body becomes too large, 503 when there is no memory. */
  append(chunk: Uint8Array, start: number, end: number): void {
    const needed = this.#length + end - start;
    if (needed > this.#maxBytes) throw bodyTooLarge(this.#maxBytes);
    if (needed > this.#heldBytes) this.#hold(needed);
    this.#storage.set(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end), this.#length);
    this.#length = needed;
  }

  /** The body is complete. */
  complete(): void {
    if (!this.#isArriving) return;
    this.#isArriving = false;
    this.#memory.arrived(this);
  }

  cut(error: RouterError): void {
    this.#owner.failed(error);
  }

  /** Keeps the memory for one more reader, whatever the request does, until that reader gives it back. */
  hold(): BodyHold {
    let isHeld = true;
    this.#holds += 1;
    return {
      giveBack: (isFree) => {
        if (!isHeld) return;
        isHeld = false;
        this.#holds -= 1;
        this.#isFree &&= isFree;
        if (this.#isLeft && this.#holds === 0) this.#giveUp();
      },
    };
  }

  /** Lets the next body use the memory. Call it when the request does not read it any more and no socket still has to write it. */
  release(): void {
    this.#leave();
  }

  /** Leaves the memory to the garbage collector, because a socket may still write it. */
  abandon(): void {
    this.#isFree = false;
    this.#leave();
  }

  #leave(): void {
    this.complete();
    this.#isLeft = true;
    if (this.#holds === 0) this.#giveUp();
  }

  #giveUp(): void {
    if (this.#isFree) returnStorage(this.#storage);
    this.#memory.give(this.#heldBytes);
    this.#heldBytes = 0;
    this.#storage = EMPTY;
    this.#length = 0;
  }

  #hold(needed: number): void {
    if (!this.#isArriving && needed !== this.#declared) {
      this.#isArriving = true;
      this.#memory.arriving(this);
    }
    const size = needed > this.#storage.length ? storageSize(this.#capacityFor(needed)) : this.#storage.length;
    const held = size > LARGEST_KEPT ? Math.min(size, needed + COUNTED_BYTES) : size;
    this.#memory.take(this, held - this.#heldBytes);
    this.#heldBytes = held;
    if (size > this.#storage.length) this.#grow(size);
  }

  #grow(size: number): void {
    const grown = takeStorage(size);
    if (this.#length > 0) {
      grown.set(this.#storage.subarray(0, this.#length));
      returnStorage(this.#storage);
    }
    this.#storage = grown;
  }

  #capacityFor(needed: number): number {
    const doubled = Math.min(2 * needed, this.#maxBytes);
    if (needed > this.#declared)
      return doubled > LARGEST_KEPT ? Math.min(Math.max(doubled, UNKNOWN_BYTES), this.#maxBytes) : doubled;
    return doubled > LARGEST_KEPT ? this.#declared : Math.min(this.#declared, Math.max(doubled, TRUSTED_BYTES));
  }
}

export function bodyTooLarge(maxBytes: number): RouterError {
  return new RouterError("body_too_large", `The body is larger than the limit of ${maxBytes} bytes; send a shorter one.`);
}
