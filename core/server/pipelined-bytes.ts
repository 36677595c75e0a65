/**
 * How far a client may send ahead while a response is under way. The socket is not paused meanwhile, because a paused socket
 * reports no disconnect. Beyond the bound nothing is kept, and the connection closes after the response.
 */
const MOST_PIPELINED_BYTES = 128 * 1024;
/** The first allocation; later ones are twice what is needed. */
const FIRST_BYTES = 2 * 1024;

/**
 * Keeps what a client sends ahead of its turn (pipelining), as copies and up to a bound; it takes at most twice the bound of
 * memory. Once more has come, or after `close`, nothing is kept any more: what still comes is only counted.
 */
export class PipelinedBytes {
  isClosed = false;
  /** Bytes that came after the bound or after `close`. */
  thrownAwayBytes = 0;
  readonly #maxBytes: number;
  #storage: Buffer | undefined;
  #start = 0;
  #end = 0;

  constructor(maxBytes = MOST_PIPELINED_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Adds a copy of `bytes` behind what is there. */
  add(bytes: Buffer): void {
    if (this.length + bytes.length > this.#maxBytes) this.close();
    if (this.isClosed) this.thrownAwayBytes += bytes.length;
    else if (!this.#putBack(bytes)) this.#append(bytes);
  }

  /** All of it; nothing is kept afterwards. The bytes are valid until the next `add`. */
  take(): Buffer | undefined {
    const taken = this.#storage?.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return taken;
  }

  /** Gives the memory back when nothing is kept. */
  trim(): void {
    if (this.length > 0) return;
    this.#storage = undefined;
    this.#start = 0;
    this.#end = 0;
  }

  /** Throws away what is there and whatever comes. */
  close(): void {
    this.isClosed = true;
    this.#end = this.#start;
    this.trim();
  }

  /** Bytes of the last `take` that were not used up stay where they are: with many small requests, copies would add up. */
  #putBack(bytes: Buffer): boolean {
    const storage = this.#storage;
    if (storage === undefined || bytes.buffer !== storage.buffer || this.length > 0) return false;
    this.#start = bytes.byteOffset - storage.byteOffset;
    this.#end = this.#start + bytes.length;
    return true;
  }

  #append(bytes: Buffer): void {
    let storage = this.#storage;
    if (storage === undefined || this.#end + bytes.length > storage.length) {
      const { length } = this;
      // Not from a pool: putBack recognises the storage by its ArrayBuffer.
      const wider = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * (length + bytes.length)));
      storage?.copy(wider, 0, this.#start, this.#end);
      storage = wider;
      this.#storage = wider;
      this.#start = 0;
      this.#end = length;
    }
    bytes.copy(storage, this.#end);
    this.#end += bytes.length;
  }
}
