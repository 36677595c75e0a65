const LF = 0x0a;
const CR = 0x0d;

/** Follows an event stream: whether an event is open where the stream breaks, and when its opening events are over. */
export class EventBoundary {
  /** True once a byte after the opening events has come. */
  isOpeningOver = false;
  #openingLeft: number;
  #isLineEmpty = true;
  #isEventEmpty = true;
  #hasCarriageReturn = false;
  #last = LF;
  #beforeLast = LF;

  constructor(openingEvents: number) {
    this.#openingLeft = openingEvents;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount; i++) {
      const start = spans[2 * i]!;
      const end = spans[2 * i + 1]!;
      if (end - start === 0) continue;
      if (!this.isOpeningOver) this.#readOpening(chunk, start, end);
      this.#beforeLast = end - start >= 2 ? chunk[end - 2]! : this.#last;
      this.#last = chunk[end - 1]!;
    }
  }

  /** Text to send before another event can begin; "" after a complete event. */
  closing(): string {
    // After a CRLF it is not known whether the event is open. Readers ignore an extra empty line.
    return this.#last === LF && this.#beforeLast === LF ? "" : "\n\n";
  }

  /** Counts the opening events that have ended (with an empty line after a line), up to the first byte after the last of them. */
  #readOpening(chunk: Uint8Array, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const byte = chunk[i]!;
      const isRestOfLineEnd = byte === LF && this.#hasCarriageReturn;
      this.#hasCarriageReturn = byte === CR;
      if (isRestOfLineEnd) continue;
      if (this.#openingLeft === 0) {
        this.isOpeningOver = true;
        return;
      }
      if (byte === LF || byte === CR) this.#lineEnded();
      else this.#isLineEmpty = this.#isEventEmpty = false;
    }
  }

  #lineEnded(): void {
    if (this.#isLineEmpty && !this.#isEventEmpty) {
      this.#openingLeft -= 1;
      this.#isEventEmpty = true;
    }
    this.#isLineEmpty = true;
  }
}
