import { RouterError } from "../contract/errors.ts";
import { returnStorage, takeStorage } from "./storage-pool.ts";

/** Up to here a declared length is believed; beyond it memory follows the bytes that have come. */
const TRUSTED_BYTES = 1024 * 1024;
const EMPTY = new Uint8Array(0);

/** Gathers a request body into one contiguous buffer. It copies, so that the memory of a read is free once the read is over. */
export class BodyBuffer {
  readonly #declared: number;
  readonly #maxBytes: number;
  #storage: Uint8Array = EMPTY;
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

  /** Adds a copy of chunk[start, end). */
  append(chunk: Uint8Array, start: number, end: number): void {
    const needed = this.#length + end - start;
    if (needed > this.#maxBytes) throw this.#tooLarge();
    if (needed > this.#storage.length) this.#grow(needed);
    this.#storage.set(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end), this.#length);
    this.#length = needed;
  }

  #grow(needed: number): void {
    const grown = takeStorage(this.#capacityFor(needed));
    grown.set(this.#storage.subarray(0, this.#length));
    returnStorage(this.#storage);
    this.#storage = grown;
  }

  /** The body's memory may be used again: nobody reads it any more, and no socket still writes it. */
  release(): void {
    returnStorage(this.#storage);
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
