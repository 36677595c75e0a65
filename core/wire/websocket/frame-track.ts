import { FrameHeader, OPCODE } from "./frame-header.ts";

/**
 * Follows the frames that pass in one direction, without a look at what is in them: whether one is under way, so that another would be
 * taken for a part of it, and whether a Close has passed.
 */
export class FrameTrack {
  readonly #header = new FrameHeader();
  /** Of the payload. */
  #left = 0;
  /** A Close frame has passed whole. */
  isClosed = false;
  #hasSpoken = false;

  /** No frame is under way. */
  get isBetween(): boolean {
    return this.#left === 0 && !this.#header.hasBegun;
  }

  /** Whether anything has passed since the last call that is no pong, which is what a silent end says when it is asked. */
  takeSpoken(): boolean {
    const has = this.#hasSpoken;
    this.#hasSpoken = false;
    return has;
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, end - at);
        this.#noteSpoken();
        this.#left -= step;
        at += step;
        if (this.#left === 0) this.#ended();
        continue;
      }
      at = this.#header.read(bytes, at, end);
      if (!this.#header.isComplete) return;
      this.#left = this.#header.length;
      this.#noteSpoken();
      if (this.#left === 0) this.#ended();
    }
  }

  #noteSpoken(): void {
    if (this.#header.opcode !== OPCODE.pong) this.#hasSpoken = true;
  }

  #ended(): void {
    if (this.#header.opcode === OPCODE.close) this.isClosed = true;
    this.#header.reset();
  }
}
