import { type CutEvent, OpenEvent } from "./open-event.ts";

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/** Follows an event stream: when its opening events are over, and how to end the event in which it breaks. */
export class EventBoundary {
  /** True once a byte of an event after the opening events has come; comments, which keep connections open, are none. */
  isOpeningOver = false;
  #openingLeft: number;
  #isLineEmpty = true;
  #isEventEmpty = true;
  #isComment = false;
  #hasCarriageReturn = false;
  readonly #open = new OpenEvent();

  constructor(openingEvents: number) {
    this.#openingLeft = openingEvents;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount; i++) {
      const start = spans[2 * i]!;
      const end = spans[2 * i + 1]!;
      if (end - start === 0) continue;
      if (!this.isOpeningOver) this.#readOpening(chunk, start, end);
      this.#open.read(chunk, start, end);
    }
  }

  /** Whether nothing of an event came since the last one ended. */
  isBetween(): boolean {
    return this.#open.isBetween();
  }

  /** What has to come before an error can follow. */
  cut(): CutEvent {
    return this.#open.cut();
  }

  /** Counts the opening events that have ended (with an empty line after a line), up to the first byte of the next one. */
  #readOpening(chunk: Uint8Array, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const byte = chunk[i]!;
      const isRestOfLineEnd = byte === LF && this.#hasCarriageReturn;
      this.#hasCarriageReturn = byte === CR;
      if (isRestOfLineEnd) continue;
      if (byte === LF || byte === CR) {
        this.#lineEnded();
        continue;
      }
      if (this.#isLineEmpty) this.#isComment = byte === COLON;
      this.#isLineEmpty = false;
      if (this.#isComment) continue;
      this.#isEventEmpty = false;
      if (this.#openingLeft === 0) {
        this.isOpeningOver = true;
        return;
      }
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
