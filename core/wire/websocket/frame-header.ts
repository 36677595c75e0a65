export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Two bytes, a length of eight and a mask. */
const LONGEST = 14;
const MASKED = 0x80;

/** The header of one frame (RFC 6455 5.2), read in whatever pieces it comes. */
export class FrameHeader {
  readonly #bytes = new Uint8Array(LONGEST);
  #have = 0;
  #need = 2;

  /** Whether a byte of it has come. */
  get hasBegun(): boolean {
    return this.#have > 0;
  }

  get isComplete(): boolean {
    return this.#have === this.#need;
  }

  /** As it came, so far; they are overwritten by the next one. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#have);
  }

  get isFinal(): boolean {
    return (this.#bytes[0]! & 0x80) !== 0;
  }

  /** A bit is set that an extension has to give a meaning. */
  get hasReserved(): boolean {
    return (this.#bytes[0]! & 0x70) !== 0;
  }

  get opcode(): number {
    return this.#bytes[0]! & 0x0f;
  }

  get isMasked(): boolean {
    return (this.#bytes[1]! & MASKED) !== 0;
  }

  /** Bytes of the payload; not exact beyond 2^53, which no payload has. */
  get length(): number {
    const short = this.#bytes[1]! & 0x7f;
    if (short < 126) return short;
    let length = 0;
    for (let at = 2; at < (short === 126 ? 4 : 10); at++) length = length * 256 + this.#bytes[at]!;
    return length;
  }

  /** The mask's byte for the payload's byte at `index`. */
  maskAt(index: number): number {
    return this.#bytes[this.#need - 4 + (index & 3)]!;
  }

  /** Reads on; returns where it stopped. */
  read(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && this.#have < this.#need) {
      this.#bytes[this.#have++] = bytes[at++]!;
      if (this.#have === 2) this.#need = headerLength(this.#bytes[1]!);
    }
    return at;
  }

  /** Makes ready for the next frame. */
  reset(): void {
    this.#have = 0;
    this.#need = 2;
  }
}

function headerLength(second: number): number {
  const short = second & 0x7f;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  return 2 + extended + ((second & MASKED) === 0 ? 0 : 4);
}
