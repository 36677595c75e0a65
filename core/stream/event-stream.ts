const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

// What has come of a line that has not ended. A comment begins with a colon; servers send such lines to keep a connection open.
const NOTHING = 0;
const RETURN = 1;
const COMMENT = 2;
const FIELD = 3;
/** So much of an event's first line is noted: an event's name, or its type where that is the first of its data. */
const NOTED_BYTES = 64;

/**
 * Follows an event stream (HTML standard, 9.2.6), whatever pieces it comes in: how many events have ended, whether the opening events
 * are over, and where in a read it last stood between two events. Costs one search for each line.
 */
export class EventStream {
  /** Events that have ended; comments are none. */
  ended = 0;
  /** Lines of the open event that have ended, without comments; 0 between two events. */
  openLines = 0;
  /** The span of the last read in which the stream last stood between two events; -1 if it never did. */
  wholeSpan = -1;
  /** Where it stood there: an index in the chunk. */
  wholeEnd = -1;
  readonly #openingEvents: number;
  #line = NOTHING;
  /** LF, before which a CR may stand, or CR alone. The first line's end tells which; 0 before. */
  #lineEnd = 0;
  /** How the last event begins, where that is noted. */
  readonly #noted: Buffer | undefined;
  #notedBytes = 0;
  /** The first line has not ended, or with this CR. */
  #isAfterReturn = false;

  /** `openingEvents` come before the prompt is worked off. `isNoted`: `lastBegins` will be asked. */
  constructor(openingEvents: number, isNoted = false) {
    this.#openingEvents = openingEvents;
    this.#noted = isNoted ? Buffer.alloc(NOTED_BYTES) : undefined;
  }

  /** Whether the first line of the last event has the text near its beginning. */
  lastBegins(text: string): boolean {
    return this.#noted !== undefined && text !== "" && this.#noted.toString("latin1", 0, this.#notedBytes).includes(text);
  }

  /** Whether a byte of an event after the opening events has come. */
  get isOpeningOver(): boolean {
    if (this.ended !== this.#openingEvents) return this.ended > this.#openingEvents;
    return this.openLines > 0 || this.#line === FIELD;
  }

  /** Whether nothing of an event, and nothing of a comment, has come since the last one ended. */
  get isBetween(): boolean {
    return this.openLines === 0 && this.#line === NOTHING;
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. */
  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.wholeSpan = -1;
    for (let i = 0; i < spanCount; i++) {
      const end = this.#readSpan(chunk, spans[2 * i]!, spans[2 * i + 1]!);
      if (end < 0) continue;
      this.wholeSpan = i;
      this.wholeEnd = end;
    }
  }

  /** Returns where the stream last stood between two events; -1 if it never did. */
  #readSpan(chunk: Buffer, start: number, end: number): number {
    if (this.#lineEnd === 0) this.#learnLineEnd(chunk, start, end);
    // As long as no line has ended there is none of either.
    const byte = this.#lineEnd === CR ? CR : LF;
    let whole = -1;
    let at = start;
    while (at < end) {
      let lineEnd = chunk[at] === byte ? at : chunk.indexOf(byte, at);
      if (lineEnd < 0 || lineEnd > end) lineEnd = end;
      if (lineEnd > at) this.#readLine(chunk, at, lineEnd);
      if (lineEnd === end) break;
      this.#lineEnded();
      at = lineEnd + 1;
      if (this.openLines === 0) whole = at;
    }
    return whole;
  }

  #readLine(chunk: Buffer, at: number, end: number): void {
    if (this.#line === RETURN) this.#line = FIELD;
    const isFirst = this.#line === NOTHING;
    if (isFirst) {
      if (chunk[at] === COLON) this.#line = COMMENT;
      else this.#line = chunk[at] === CR && end - at === 1 ? RETURN : FIELD;
    }
    if (this.#noted !== undefined && this.#line === FIELD && this.openLines === 0) this.#note(chunk, at, end, isFirst);
  }

  #note(chunk: Buffer, at: number, end: number, isFirst: boolean): void {
    if (isFirst) this.#notedBytes = 0;
    this.#notedBytes += chunk.copy(this.#noted!, this.#notedBytes, at, Math.min(end, at + NOTED_BYTES - this.#notedBytes));
  }

  #lineEnded(): void {
    if (this.#line === FIELD) this.openLines += 1;
    else if (this.#line !== COMMENT && this.openLines > 0) {
      this.ended += 1;
      this.openLines = 0;
    }
    this.#line = NOTHING;
  }

  #learnLineEnd(chunk: Buffer, start: number, end: number): void {
    for (let at = start; at < end && this.#lineEnd === 0; at++) {
      const byte = chunk[at]!;
      if (byte === LF) this.#lineEnd = LF;
      else if (this.#isAfterReturn) {
        this.#lineEnd = CR;
        // The line has ended in the span before, which could not be known there.
        if (at === start) this.#lineEnded();
      }
      this.#isAfterReturn = byte === CR;
    }
  }
}
