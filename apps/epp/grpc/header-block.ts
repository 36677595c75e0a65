import { CODE, ConnectionError, FLAG, protocolError, TYPE } from "./frames.ts";

/** More are an attack: even the largest block fits into a few frames. */
const MOST_FRAMES = 32;

/** Gathers the header block of one HEADERS frame and of the CONTINUATION frames behind it. */
export class HeaderBlock {
  readonly #maxBytes: number;
  #stream = 0;
  #isEnd = false;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The stream whose block is not complete; 0 if there is none. Until then no other frame may come. */
  get openStream(): number {
    return this.#stream;
  }

  /** Whether the frame that began the block ends its stream. */
  get isEnd(): boolean {
    return this.#isEnd;
  }

  /** Throws ConnectionError for a frame that comes between those of a block, or that goes on with none. */
  checkNext(type: number, stream: number): void {
    const isOwn = type === TYPE.continuation && stream === this.#stream;
    if (this.#stream !== 0 && !isOwn) throw protocolError("A header block was interrupted");
    if (type === TYPE.continuation && this.#stream === 0) throw protocolError("A header block continues that has not begun");
  }

  begin(flags: number, stream: number, chunk: Buffer, start: number, end: number): void {
    const skipped = flags & FLAG.priority ? 5 : 0;
    const [from, to] = unpadded(flags, chunk, start, end);
    if (from + skipped > to) throw new ConnectionError(CODE.protocol, "A frame is shorter than its fields");
    this.#stream = stream;
    this.#isEnd = (flags & FLAG.endStream) !== 0;
    this.add(chunk, from + skipped, to);
  }

  add(chunk: Buffer, start: number, end: number): void {
    this.#bytes += end - start;
    if (this.#bytes > this.#maxBytes || this.#parts.length >= MOST_FRAMES)
      throw new ConnectionError(CODE.enhanceYourCalm, "The headers are too large");
    this.#parts.push(Buffer.from(chunk.subarray(start, end)));
  }

  /** The whole block; the next one can begin. */
  take(): Buffer {
    const block = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#stream = 0;
    this.#parts = [];
    this.#bytes = 0;
    return block;
  }
}

/** Where the payload of a DATA or HEADERS frame begins and ends without its padding. */
export function unpadded(flags: number, chunk: Buffer, start: number, end: number): readonly [start: number, end: number] {
  if ((flags & FLAG.padded) === 0) return [start, end];
  const padding = start < end ? chunk[start]! : end;
  if (start + 1 + padding > end) throw new ConnectionError(CODE.protocol, "A frame has more padding than bytes");
  return [start + 1, end - padding];
}
