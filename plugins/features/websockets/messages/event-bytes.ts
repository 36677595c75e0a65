const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BEFORE = Buffer.from("data: ");
const BEHIND = Buffer.from("\n\n");
const LEAST_BYTES = 4 * 1024;
/** With so many bytes it is taken on, also inside of an event. */
const MOST_BYTES = 64 * 1024;

/** Gathers messages as the events of an event stream, which is what a response of many parts is to the rest of the router. */
export class EventBytes {
  /** The events are in its first `length` bytes. */
  bytes = Buffer.allocUnsafe(LEAST_BYTES);
  length = 0;

  get isFull(): boolean {
    return this.length >= MOST_BYTES;
  }

  begin(): void {
    this.#add(BEFORE, 0, BEFORE.length);
  }

  /** Adds chunk[start, end) of a message. A line end there is white space between two tokens of JSON, and would end the event's line. */
  add(chunk: Uint8Array, start: number, end: number): void {
    const from = this.length;
    this.#add(chunk, start, end);
    for (let at = from; at < this.length; at++) if (this.bytes[at] === LF || this.bytes[at] === CR) this.bytes[at] = SPACE;
  }

  end(): void {
    this.#add(BEHIND, 0, BEHIND.length);
  }

  /** They have been taken on. */
  clear(): void {
    this.length = 0;
  }

  /** The first message as it came, where nothing but that is here. */
  get first(): Buffer {
    return this.bytes.subarray(BEFORE.length, this.length - BEHIND.length);
  }

  #add(chunk: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (needed > this.bytes.length) {
      const wider = Buffer.allocUnsafe(2 * needed);
      wider.set(this.bytes.subarray(0, this.length));
      this.bytes = wider;
    }
    this.bytes.set(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end), this.length);
    this.length = needed;
  }
}
