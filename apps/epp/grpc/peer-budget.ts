import { Allowance } from "./allowance.ts";
import { CODE, ConnectionError } from "./frames.ts";

/** Frames that carry no data: so many at once, and so many a second. A connection that is in use earns more. */
const IDLE_FRAMES = 10_000;
const IDLE_FRAMES_PER_SECOND = 1_000;
/**
 * Frames that may answer a piece of data or the end of a call: a window of the stream, one of the connection, and a PING that measures the
 * line.
 */
const EARNED_FRAMES = 3;
/** Streams that end before anything was sent on them, by a reset or a fault of the peer. Each one that is served earns one more. */
const WASTED_STREAMS = 1_000;
const WASTED_STREAMS_PER_SECOND = 100;
/** To look at so many streams takes as long as to read a frame. */
const STREAMS_PER_FRAME = 64;

/** What the peer of a connection may have done for nothing. */
export class PeerBudget {
  readonly #frames: Allowance;
  readonly #streams: Allowance;

  constructor(nowMs: () => number) {
    this.#frames = new Allowance(IDLE_FRAMES, IDLE_FRAMES_PER_SECOND, nowMs);
    this.#streams = new Allowance(WASTED_STREAMS, WASTED_STREAMS_PER_SECOND, nowMs);
  }

  /** A frame without data. Throws ConnectionError when there were too many. */
  frame(): void {
    this.#take(1);
  }

  /** A frame had so many streams looked at. */
  walk(streams: number): void {
    this.#take(Math.ceil(streams / STREAMS_PER_FRAME));
  }

  /** A piece of data was sent to its end. */
  sentPiece(): void {
    this.#frames.earn(EARNED_FRAMES);
  }

  served(): void {
    this.#frames.earn(EARNED_FRAMES);
    this.#streams.earn(1);
  }

  /** A stream was taken up for nothing. False when there were too many. */
  wasted(): boolean {
    return this.#streams.take(1);
  }

  #take(cost: number): void {
    if (!this.#frames.take(cost)) throw new ConnectionError(CODE.enhanceYourCalm, "Too many frames without data");
  }
}
