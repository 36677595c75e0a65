import { CODE, ConnectionError, DEFAULT_WINDOW, LARGEST_WINDOW, protocolError } from "./frames.ts";
import type { Http2Stream } from "./http2-stream.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { PeerBudget } from "./peer-budget.ts";
import { PeerSettings } from "./peer-settings.ts";
import { pump, WaitingStreams } from "./waiting-streams.ts";

/** What the peer of a connection takes now, and who waits for more. */
export class SendWindows {
  /** Bytes of data that it takes on all streams together. */
  connection = DEFAULT_WINDOW;
  readonly waiting = new WaitingStreams();
  readonly #peer = new PeerSettings();
  readonly #streams: OpenStreams;
  readonly #budget: PeerBudget;
  /** The connection's window, or those of all streams, have grown since streams were asked to send more. */
  #isWider = false;
  #areAllWider = false;
  /** No open stream is further ahead of the initial window. */
  #mostAheadBytes = 0;

  constructor(streams: OpenStreams, budget: PeerBudget) {
    this.#streams = streams;
    this.#budget = budget;
  }

  /** Bytes of data that the peer takes on a stream before it widens that stream's window. */
  get initial(): number {
    return this.#peer.initialWindow;
  }

  get maxFrameBytes(): number {
    return this.#peer.maxFrameBytes;
  }

  /**
   * Reads the peer's SETTINGS. Each stream counts from the initial window, so a new one changes all of theirs without a look at them:
   * that takes place only where one could have become too large. Throws ConnectionError.
   */
  settings(chunk: Buffer, start: number, end: number): void {
    const before = this.initial;
    this.#peer.read(chunk, start, end);
    if (this.initial <= before) return;
    this.#areAllWider = true;
    if (this.initial + this.#mostAheadBytes <= LARGEST_WINDOW) return;
    this.#budget.walk(this.#streams.size);
    this.#mostAheadBytes = 0;
    for (const { aheadBytes } of this.#streams.values()) this.#mostAheadBytes = Math.max(this.#mostAheadBytes, aheadBytes);
    if (this.initial + this.#mostAheadBytes > LARGEST_WINDOW) throw tooWide();
  }

  /** The peer takes more on all streams together. Throws ConnectionError. */
  widen(bytes: number): void {
    if (bytes === 0) throw protocolError("A window grows by nothing");
    this.connection += bytes;
    if (this.connection > LARGEST_WINDOW) throw tooWide();
    this.#isWider = true;
  }

  /** The peer takes more on one stream. False if that may not be. */
  widenStream(stream: Http2Stream, bytes: number): boolean {
    if (stream.widen(bytes) > LARGEST_WINDOW) return false;
    this.#mostAheadBytes = Math.max(this.#mostAheadBytes, stream.aheadBytes);
    pump(stream);
    return true;
  }

  /** Sends what has become possible. Once for each read: a peer may send thousands of windows in one. Throws ConnectionError. */
  sendMore(): void {
    if (this.#areAllWider) {
      this.#areAllWider = false;
      this.#budget.walk(this.waiting.ownCount);
      this.waiting.pumpAll();
    }
    if (!this.#isWider) return;
    this.#isWider = false;
    this.waiting.pumpInTurn(this);
  }
}

function tooWide(): ConnectionError {
  return new ConnectionError(CODE.flowControl, "A window is too large");
}
