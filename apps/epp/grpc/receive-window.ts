/** How much the peer may still send on a stream, or on all streams together. */
export class ReceiveWindow {
  readonly #size: number;
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Bytes came. Returns false if they are more than were allowed. */
  took(bytes: number): boolean {
    this.#taken += bytes;
    return this.#taken <= this.#size;
  }

  /** By how many bytes the peer should be told to go on; 0 while that is not worth a frame. */
  renew(): number {
    if (this.#taken < this.#size / 2) return 0;
    const bytes = this.#taken;
    this.#taken = 0;
    return bytes;
  }
}
