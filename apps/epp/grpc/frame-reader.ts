import { checkFrame } from "./frame-rules.ts";
import { CODE, ConnectionError, DEFAULT_FRAME_BYTES, FLAG, FRAME_HEAD_BYTES, PREFACE, protocolError, TYPE } from "./frames.ts";

/** Takes frames: payload chunk[start, end), which is overwritten once this returns. */
export interface FrameSink {
  /** True as long as it takes frames now; the others wait for the next `push`. */
  readonly hasTime: boolean;
  frame(type: number, flags: number, stream: number, chunk: Buffer, start: number, end: number): void;
}

/** Cuts what a client sends into frames, whatever pieces it comes in. */
export class FrameReader {
  readonly #sink: FrameSink;
  /** What came of a frame that is not complete. */
  #held = Buffer.alloc(0);
  #hasPreface = false;
  #hasFrame = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  get hasPreface(): boolean {
    return this.#hasPreface;
  }

  /**
   * Throws ConnectionError at the first byte that is none of HTTP/2. `chunk` may be overwritten once this returns. Returns whether the sink
   * has no time for frames that have come.
   */
  push(chunk: Buffer): boolean {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = this.#hasPreface ? 0 : this.#preface(bytes);
    let isLate = false;
    while (!isLate && at >= 0 && bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = bytes.readUIntBE(at, 3);
      if (length > DEFAULT_FRAME_BYTES) throw new ConnectionError(CODE.frameSize, "A frame is larger than allowed");
      const type = bytes[at + 3]!;
      const flags = bytes[at + 4]!;
      const stream = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
      if (!this.#hasFrame && (type !== TYPE.settings || flags & FLAG.ack)) throw protocolError("The first frame is not SETTINGS");
      checkFrame(type, flags, stream, length);
      const start = at + FRAME_HEAD_BYTES;
      if (bytes.length < start + length) break;
      this.#hasFrame = true;
      this.#sink.frame(type, flags, stream, bytes, start, start + length);
      at = start + length;
      isLate = !this.#sink.hasTime;
    }
    this.#held = Buffer.from(bytes.subarray(Math.max(0, at)));
    return isLate && this.#held.length > 0;
  }

  /** Where the frames begin; -1 before all of the preface has come. */
  #preface(bytes: Buffer): number {
    const length = Math.min(bytes.length, PREFACE.length);
    if (bytes.compare(PREFACE, 0, length, 0, length) !== 0)
      throw new ConnectionError(CODE.protocol, "This is not HTTP/2 with prior knowledge (h2c)");
    this.#hasPreface = length === PREFACE.length;
    return this.#hasPreface ? length : -1;
  }
}
