import { CODE, ConnectionError, protocolError } from "./frames.ts";
import type { Http2Stream } from "./http2-stream.ts";

/** The streams of a connection that are open, and of which others frames may still come (RFC 9113, 5.1). */
export class OpenStreams {
  readonly #open = new Map<number, Http2Stream>();
  /**
   * Ended here before the peer had ended them, so that frames of them may be under way. The peer takes those for open, until it learns
   * of their end in the order in which they ended: it can't have more of them than it may have open.
   */
  readonly #cut = new Set<number>();
  readonly #most: number;
  /** The last one that was begun, refused ones included. */
  #last = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#open.size;
  }

  get(id: number): Http2Stream | undefined {
    return this.#open.get(id);
  }

  values(): Iterable<Http2Stream> {
    return this.#open.values();
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream);
  }

  /** Headers came for a stream that is not open. Returns whether they begin one. Throws ConnectionError if they are not allowed. */
  begin(id: number, isEnd: boolean): boolean {
    const isNew = id > this.#last;
    if (isNew) this.#last = id;
    if (isNew) this.checkBegun(id);
    else this.checkLate(id, isEnd);
    return isNew;
  }

  /** The stream is over, or was never let in; `isCut` if the peer has not ended it. */
  end(id: number, isCut: boolean): void {
    this.#open.delete(id);
    if (!isCut) return void this.#cut.delete(id);
    this.#cut.add(id);
    if (this.#cut.size <= this.#most) return;
    for (const oldest of this.#cut) return void this.#cut.delete(oldest);
  }

  /** Data or headers came of a stream that is not open. Throws ConnectionError unless they may have been under way. */
  checkLate(id: number, isEnd: boolean): void {
    this.checkBegun(id);
    if (!this.#cut.has(id)) throw new ConnectionError(CODE.streamClosed, "A frame of a stream that the peer has ended");
    if (isEnd) this.#cut.delete(id);
  }

  /** A frame of a stream may be late, but it can't be early. */
  checkBegun(id: number): void {
    if (id > this.#last || id % 2 === 0) throw protocolError("A frame of a stream that has not begun");
  }

  clear(): void {
    this.#open.clear();
    this.#cut.clear();
  }
}
