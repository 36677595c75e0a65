import { EventStream } from "./event-stream.ts";

/** An event of so many bytes does not wait for its end any longer. */
export const MOST_HELD_BYTES = 64 * 1024;
/** Events of these APIs have four lines at most: one of more is no such event, and does not wait either. */
const MOST_HELD_LINES = 8;
/** A buffer of more bytes is not kept for the next event. */
const MOST_KEPT_BYTES = 4 * 1024;
const LEAST_BUFFER_BYTES = 512;
const NO_BUFFER = Buffer.alloc(0);

/** What of a response is used here; see ResponseWriter. */
export interface EventWriter {
  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean;
  end(isVerbatimEnd: boolean): void;
}

/**
 * Passes an event stream on in whole events. An event that a read cuts is held back until its end has come, so that the client is
 * always between two events: only there can an error follow when the replica dies. What is held then is dropped. An event that is
 * too long to wait passes as it comes.
 */
export class WholeEvents {
  readonly stream: EventStream;
  readonly #response: EventWriter;
  #held = NO_BUFFER;
  #heldBytes = 0;
  #isInLongEvent = false;
  /** The last read was passed on in its own framing. */
  #wasVerbatim = false;

  /** See EventStream. */
  constructor(openingEvents: number, response: EventWriter, isNoted = false) {
    this.stream = new EventStream(openingEvents, isNoted);
    this.#response = response;
  }

  /** Whether the client is between two events. */
  get isBetween(): boolean {
    return !this.#isInLongEvent;
  }

  /** Passes on what `stream` has just read, up to the end of its last whole event. Returns as ResponseWriter.write does. */
  write(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean {
    const { isBetween, wholeSpan, wholeEnd } = this.stream;
    if (wholeSpan >= 0) this.#isInLongEvent = false;
    if (!isBetween && !this.#isInLongEvent)
      this.#isInLongEvent = this.stream.openLines > MOST_HELD_LINES || this.#openBytes(spans, spanCount) > MOST_HELD_BYTES;
    this.#wasVerbatim = isVerbatim && (isBetween || this.#isInLongEvent);
    if (isBetween || this.#isInLongEvent) {
      const hasRoom = this.#passHeld();
      return this.#response.write(chunk, spans, spanCount, isVerbatim) && hasRoom;
    }
    const hasRoom = wholeSpan < 0 || this.#passWhole(chunk, spans);
    for (let i = Math.max(0, wholeSpan); i < spanCount; i++) {
      this.#hold(chunk, i === wholeSpan ? wholeEnd : spans[2 * i]!, spans[2 * i + 1]!);
    }
    return hasRoom;
  }

  /** Ends the response, which is complete: what has no end is passed on as it is. */
  end(isVerbatimEnd: boolean): void {
    this.#passHeld();
    this.#response.end(isVerbatimEnd && this.#wasVerbatim);
  }

  /** Bytes of the event that is open. */
  #openBytes(spans: ArrayLike<number>, spanCount: number): number {
    const { wholeSpan, wholeEnd } = this.stream;
    let bytes = wholeSpan < 0 ? this.#heldBytes : spans[2 * wholeSpan + 1]! - wholeEnd;
    for (let i = wholeSpan + 1; i < spanCount; i++) bytes += spans[2 * i + 1]! - spans[2 * i]!;
    return bytes;
  }

  /** Passes on what comes before the event that is open. */
  #passWhole(chunk: Buffer, spans: ArrayLike<number>): boolean {
    const { wholeSpan, wholeEnd } = this.stream;
    const whole = new Int32Array(2 * wholeSpan + 2);
    for (let i = 0; i <= 2 * wholeSpan; i++) whole[i] = spans[i]!;
    whole[2 * wholeSpan + 1] = wholeEnd;
    const hasRoom = this.#passHeld();
    return this.#response.write(chunk, whole, wholeSpan + 1, false) && hasRoom;
  }

  #passHeld(): boolean {
    if (this.#heldBytes === 0) return true;
    const held = this.#held;
    const span = [0, this.#heldBytes];
    this.#heldBytes = 0;
    if (held.length > MOST_KEPT_BYTES) this.#held = NO_BUFFER;
    return this.#response.write(held, span, 1, false);
  }

  #hold(chunk: Buffer, start: number, end: number): void {
    const bytes = this.#heldBytes + end - start;
    if (bytes > this.#held.length) {
      const wider = Buffer.allocUnsafeSlow(Math.min(Math.max(LEAST_BUFFER_BYTES, 2 * bytes), MOST_HELD_BYTES));
      wider.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = wider;
    }
    this.#held.set(chunk.subarray(start, end), this.#heldBytes);
    this.#heldBytes = bytes;
  }
}
