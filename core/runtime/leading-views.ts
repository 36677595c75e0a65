/** Longer views are made anew each time: next to so many bytes, making one costs little. */
const LONGEST_KEPT = 1024;

/**
 * Views of a buffer's first bytes. Each of the shorter ones is made once: to make a view costs as much as to copy the bytes of a
 * stream's event. Callers share them, so they may not keep one for longer than the bytes stay as they are.
 */
export class LeadingViews {
  readonly buffer: Buffer;
  /** By length; made with the first short view. */
  #kept: (Buffer | undefined)[] | undefined;

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
  }

  of(length: number): Buffer {
    if (length >= LONGEST_KEPT) return length === this.buffer.length ? this.buffer : this.buffer.subarray(0, length);
    this.#kept ??= new Array<Buffer | undefined>(LONGEST_KEPT).fill(undefined);
    this.#kept[length] ??= this.buffer.subarray(0, length);
    return this.#kept[length]!;
  }
}
