import type { Http2Stream } from "./http2-stream.ts";

/**
 * The streams of a connection that have something to send and may not, by what they wait for: so that a frame which lets one go on does
 * not have all of them looked at.
 */
export class WaitingStreams {
  /** For the connection's window; the one that has waited longest first. */
  readonly #forConnection = new Set<Http2Stream>();
  /** For their own windows. */
  readonly #forOwn = new Set<Http2Stream>();
  /** Have asked for a pause. */
  readonly #paused = new Set<Http2Stream>();

  /** How many wait for their own windows. */
  get ownCount(): number {
    return this.#forOwn.size;
  }

  *[Symbol.iterator](): Iterator<Http2Stream> {
    yield* this.#forConnection;
    yield* this.#forOwn;
  }

  wait(stream: Http2Stream, hasOwnWindow: boolean): void {
    (hasOwnWindow ? this.#forOwn : this.#forConnection).delete(stream);
    (hasOwnWindow ? this.#forConnection : this.#forOwn).add(stream);
  }

  /** It has sent everything. */
  sent(stream: Http2Stream): void {
    this.#forConnection.delete(stream);
    this.#forOwn.delete(stream);
  }

  pause(stream: Http2Stream): void {
    this.#paused.add(stream);
  }

  goOn(stream: Http2Stream): void {
    this.#paused.delete(stream);
  }

  forget(stream: Http2Stream): void {
    this.sent(stream);
    this.#paused.delete(stream);
  }

  /** The connection's window has grown: streams send in turn until it is used up. */
  pumpInTurn(windows: { readonly connection: number }): void {
    for (const stream of this.#forConnection) {
      if (windows.connection <= 0) return;
      this.#forConnection.delete(stream);
      pump(stream);
    }
  }

  /** All windows of streams have grown. */
  pumpAll(): void {
    for (const stream of [...this.#forOwn]) pump(stream);
  }

  /** The peer has taken what waited for its socket. */
  relieve(): void {
    for (const stream of [...this.#paused]) stream.relieve();
  }
}

/** Sends what it may, and lets it send more. */
export function pump(stream: Http2Stream): void {
  stream.pump();
  stream.relieve();
}
