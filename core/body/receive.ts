import { RouterError } from "../errors.ts";
import { returnStorage, takeStorage } from "./storage-pool.ts";

/** Up to here a declared length is believed; beyond it memory follows the bytes that have come. */
const TRUSTED_BYTES = 1024 * 1024;
const EMPTY = new Uint8Array(0);

/** Gathers a request body into one contiguous buffer. A body that comes in one chunk is kept as it is, without a copy. */
export class BodyBuffer {
  readonly #declared: number;
  readonly #maxBytes: number;
  #storage: Uint8Array = EMPTY;
  /** The storage came from the pool, and goes back there. */
  #isPooled = false;
  #length = 0;

  /** `declared` is the Content-Length, or -1 where the length is not known before the end. */
  constructor(declared: number, maxBytes: number) {
    this.#declared = declared;
    this.#maxBytes = maxBytes;
    if (declared > maxBytes) throw this.#tooLarge();
  }

  get length(): number {
    return this.#length;
  }

  /** The buffer behind the body; only its first `length` bytes mean anything. Costs nothing, and changes when the body outgrows it. */
  get storage(): Uint8Array {
    return this.#storage;
  }

  /** Exactly the body so far. */
  get bytes(): Uint8Array {
    return this.#storage.length === this.#length ? this.#storage : this.#storage.subarray(0, this.#length);
  }

  /**
   * Adds chunk[start, end) and returns whether it was copied. A first chunk that may be the whole body is kept as it is, so
   * nobody may write to it afterwards.
   */
  append(chunk: Uint8Array, start: number, end: number): boolean {
    const needed = this.#length + end - start;
    if (needed > this.#maxBytes) throw this.#tooLarge();
    if (needed === this.#length) return true;
    const isKept = this.#length === 0 && (needed >= this.#declared || this.#declared < 0);
    if (isKept) this.#storage = chunk.subarray(start, end);
    else this.#copy(chunk.subarray(start, end), needed);
    this.#length = needed;
    return !isKept;
  }

  #copy(piece: Uint8Array, needed: number): void {
    if (needed > this.#storage.length) this.#grow(needed);
    this.#storage.set(piece, this.#length);
  }

  #grow(needed: number): void {
    const grown = takeStorage(this.#capacityFor(needed));
    grown.set(this.#storage.subarray(0, this.#length));
    if (this.#isPooled) returnStorage(this.#storage);
    this.#storage = grown;
    this.#isPooled = true;
  }

  /** The body's memory may be used again: nobody reads it any more, and no socket still writes it. */
  release(): void {
    if (this.#isPooled) returnStorage(this.#storage);
    this.#isPooled = false;
    this.#storage = EMPTY;
    this.#length = 0;
  }

  #capacityFor(needed: number): number {
    const doubled = Math.min(2 * needed, this.#maxBytes);
    if (needed > this.#declared) return doubled;
    return Math.min(this.#declared, Math.max(doubled, TRUSTED_BYTES));
  }

  #tooLarge(): RouterError {
    return new RouterError("body_too_large", `The body is larger than the limit of ${this.#maxBytes} bytes; send a shorter one.`);
  }
}
