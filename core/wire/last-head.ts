import type { Head } from "./head.ts";

/** Longer heads are not kept: an idle connection should not hold much. */
const MOST_KEPT_BYTES = 2 * 1024;
/** Room for a head that is a little longer than the one before it. */
const SPARE_BYTES = 64;
const NO_BYTES = Buffer.alloc(0);

/** The last head of a connection and its bytes, to recognise a head that is the same, or begins the same. */
export class LastHead {
  /** Undefined while nothing is kept. */
  head: Head | undefined;
  #bytes: Buffer = NO_BYTES;
  #length = 0;
  /** How many bytes the head before had in common with the one before it, in whole lines. */
  #common = 0;

  /** How many bytes of the last head chunk[start, end) begins with. */
  sameBytes(chunk: Buffer, start: number, end: number): number {
    const bytes = this.#bytes;
    const most = Math.min(this.#length, end - start);
    // Nearly always the whole head is the same, or it differs from the same place on as before. `compare` takes a sixth of the loop's time.
    if (most === this.#length && chunk.compare(bytes, 0, most, start, start + most) === 0) return most;
    const common = Math.min(this.#common, most);
    let at = chunk.compare(bytes, 0, common, start, start + common) === 0 ? common : 0;
    while (at < most && chunk[start + at] === bytes[at]) at++;
    return at;
  }

  /** Keeps the head whose bytes are chunk[start, end). */
  keep(head: Head, chunk: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length > MOST_KEPT_BYTES) return;
    if (this.#bytes.length < length) this.#bytes = Buffer.allocUnsafeSlow(length + SPARE_BYTES);
    chunk.copy(this.#bytes, 0, start, end);
    this.#length = length;
    this.head = head;
  }

  /** The next head has `common` bytes in common with it, in whole lines. */
  forget(common: number): void {
    this.#common = common;
    this.#length = 0;
    this.head = undefined;
  }
}
