import { RouterError } from "../contract/errors.ts";
import { returnStorage, takeStorage } from "./storage-pool.ts";

/** Up to this size memory is taken for the declared length at once; beyond it, only as bytes come. */
const TRUSTED_BYTES = 1024 * 1024;
const EMPTY = new Uint8Array(0);

/** Gathers a request body in one contiguous buffer. It copies, so that a read's memory can be used for the next read. */
export class BodyBuffer {
  readonly #declared: number;
  readonly #maxBytes: number;
  #storage: Uint8Array = EMPTY;
  #length = 0;

  /**
   * `declared` is the Content-Length, or -1 if the length is not known before the end. Throws RouterError (413) when it is larger
   * than `maxBytes`.
   */
  constructor(declared: number, maxBytes: number) {
    this.#declared = declared;
    this.#maxBytes = maxBytes;
    if (declared > maxBytes) throw this.#tooLarge();
  }

  get length(): number {
    return this.#length;
  }

  /** The buffer that holds the body in its first `length` bytes. `append` may replace it by a larger one. */
  get storage(): Uint8Array {
    return this.#storage;
  }

  /** The bytes of the body so far. */
  get bytes(): Uint8Array {
    return this.#storage.length === this.#length ? this.#storage : this.#storage.subarray(0, this.#length);
  }

  /** Adds a copy of chunk[start, end). Throws RouterError (413) when the body becomes larger than `maxBytes`. */
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

  /** Lets the next body use the memory. Call it when nothing reads the body any more and no socket still has to write it. */
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
