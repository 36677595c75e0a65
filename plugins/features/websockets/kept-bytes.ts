/** What a client may send before anybody takes it. Beyond it the client is not read, and then nobody notices that it leaves. */
const MOST_BYTES = 64 * 1024;

/** Keeps what a client sends ahead. */
export class KeptBytes {
  readonly #changed: () => void;
  #kept: Buffer[] = [];
  #bytes = 0;

  /** `changed` is called when it becomes full, and when it is no more. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isFull(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  add(chunk: Uint8Array, start: number, end: number): void {
    this.#kept.push(Buffer.from(chunk.subarray(start, end)));
    this.#bytes += end - start;
    if (this.isFull) this.#changed();
  }

  /** All that is kept, and nothing of it any more. */
  take(): readonly Buffer[] {
    const kept = this.#kept;
    const wasFull = this.isFull;
    this.#kept = [];
    this.#bytes = 0;
    if (wasFull) this.#changed();
    return kept;
  }
}
