/** Longest head of a frame: flags, and the length in eight bytes. */
const LONG_HEAD = 9;
const SHORT_HEAD = 2;
const MORE = 1;
const LONG = 2;
const COMMAND = 4;
/** Publishers of events send three or four parts. */
const MOST_PARTS = 8;
/** Beyond it, the buffer is given back once it is empty. */
const KEPT_BYTES = 1 << 20;

export interface FrameSink {
  /** The parts of a message; they are overwritten when it returns. */
  message(parts: readonly Uint8Array[]): void;
  command(body: Uint8Array): void;
}

/** A frame with a message's last part, or one with more to come. */
export function messageFrame(body: Uint8Array, hasMore = false): Uint8Array {
  return frame(hasMore ? MORE : 0, body);
}

export function commandFrame(body: Uint8Array): Uint8Array {
  return frame(COMMAND, body);
}

function frame(flags: number, body: Uint8Array): Uint8Array {
  const isLong = body.length > 255;
  const head = new Uint8Array(isLong ? LONG_HEAD : SHORT_HEAD);
  head[0] = flags | (isLong ? LONG : 0);
  if (isLong) new DataView(head.buffer).setBigUint64(1, BigInt(body.length));
  else head[1] = body.length;
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

/** Makes messages and commands of the bytes of a ZMTP 3 connection, behind its greeting. */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #maxBytes: number;
  /** What came of a message that is not complete yet. */
  #rest = new Uint8Array(0);
  #restLength = 0;

  /** `maxBytes`: of one message, or one command. */
  constructor(sink: FrameSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  /** Throws an Error for what is no frame, and for a message that is too long. */
  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#restLength > 0) {
      this.#append(chunk);
      bytes = this.#rest.subarray(0, this.#restLength);
    }
    let at = 0;
    for (let end = this.#take(bytes, at); end > at; end = this.#take(bytes, at)) at = end;
    this.#keep(bytes.subarray(at));
  }

  /** Hands on the message or the command that starts at `start`, and returns where it ends; `start` if it is not complete. */
  #take(bytes: Uint8Array, start: number): number {
    const parts: Uint8Array[] = [];
    let at = start;
    for (;;) {
      if (bytes.length < at + SHORT_HEAD) return start;
      const flags = bytes[at]!;
      if (flags > (MORE | LONG | COMMAND)) throw new Error("it sent a frame with unknown flags");
      if ((flags & LONG) !== 0 && bytes.length < at + LONG_HEAD) return start;
      const length = (flags & LONG) === 0 ? bytes[at + 1]! : longLength(bytes, at + 1);
      const body = at + ((flags & LONG) === 0 ? SHORT_HEAD : LONG_HEAD);
      const end = body + length;
      if (end - start > this.#maxBytes) throw new Error(`it sent a message of more than ${this.#maxBytes} bytes`);
      if (bytes.length < end) return start;
      if ((flags & COMMAND) !== 0) {
        if (parts.length > 0 || (flags & MORE) !== 0) throw new Error("it sent a command inside a message");
        this.#sink.command(bytes.subarray(body, end));
        return end;
      }
      parts.push(bytes.subarray(body, end));
      if (parts.length > MOST_PARTS) throw new Error(`it sent a message of more than ${MOST_PARTS} parts`);
      at = end;
      if ((flags & MORE) !== 0) continue;
      this.#sink.message(parts);
      return end;
    }
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#restLength + chunk.length;
    if (needed > this.#rest.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#rest.length));
      larger.set(this.#rest.subarray(0, this.#restLength));
      this.#rest = larger;
    }
    this.#rest.set(chunk, this.#restLength);
    this.#restLength = needed;
  }

  #keep(rest: Uint8Array): void {
    if (rest.length === 0) {
      this.#restLength = 0;
      if (this.#rest.length > KEPT_BYTES) this.#rest = new Uint8Array(0);
    } else if (rest.buffer === this.#rest.buffer) {
      this.#rest.copyWithin(0, rest.byteOffset, rest.byteOffset + rest.length);
      this.#restLength = rest.length;
    } else {
      this.#restLength = 0;
      this.#append(rest);
    }
  }
}

/** Lengths that no message has are as good as infinite. */
function longLength(bytes: Uint8Array, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, 8);
  return view.getUint32(0) * 2 ** 32 + view.getUint32(4);
}
