/** A larger buffer is not kept for what comes next. */
const LEAST_BYTES = 4 * 1024;
const NO_BUFFER = Buffer.alloc(0);

/** Bytes of a response that came in pieces, in one buffer, up to a bound. */
export class Gathered {
  length = 0;
  /** There were more than the bound; the first ones are here. */
  isCut = false;
  #buffer = NO_BUFFER;
  readonly #mostBytes: number;
  readonly #mayGrow: (bytes: number) => boolean;

  /** `mayGrow` is asked before so many bytes more are taken, and told with a negative number when they are given back. */
  constructor(mostBytes: number, mayGrow: (bytes: number) => boolean) {
    this.#mostBytes = mostBytes;
    this.#mayGrow = mayGrow;
  }

  /** What came, in its first `length` bytes. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  add(chunk: Uint8Array, start: number, end: number): void {
    if (this.isCut) return;
    const needed = this.length + end - start;
    if (needed > this.#buffer.length && !this.#grow(needed)) {
      this.isCut = true;
      return;
    }
    this.#buffer.set(chunk.subarray(start, end), this.length);
    this.length = needed;
  }

  /** Begins anew. */
  clear(): void {
    this.length = 0;
    this.isCut = false;
    if (this.#buffer.length > LEAST_BYTES) this.free();
  }

  free(): void {
    this.length = 0;
    this.#mayGrow(-this.#buffer.length);
    this.#buffer = NO_BUFFER;
  }

  #grow(needed: number): boolean {
    const size = Math.min(Math.max(LEAST_BYTES, 2 * needed), this.#mostBytes);
    if (size < needed || !this.#mayGrow(size - this.#buffer.length)) return false;
    const wider = Buffer.allocUnsafeSlow(size);
    wider.set(this.#buffer.subarray(0, this.length));
    this.#buffer = wider;
    return true;
  }
}
