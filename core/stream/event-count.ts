const LF = 0x0a;
const COLON = 0x3a;

/** Counts the events of an event stream that have ended, whatever pieces they come in. Lines end with LF or CRLF. */
export class EventCount {
  /** Events so far; comments are none. */
  ended = 0;
  /** Bytes of the line that has not ended. */
  #lineBytes = 0;
  /** A line that begins with a colon says nothing; servers send such lines to keep a connection open. */
  #isComment = false;
  #isEventEmpty = true;

  /** Reads chunk[start, end). Costs one search for each line. */
  read(chunk: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#lineBytes === 0) this.#isComment = chunk[at] === COLON;
      const feed = chunk[at] === LF ? at : chunk.indexOf(LF, at);
      if (feed < 0 || feed >= end) {
        this.#lineBytes += end - at;
        return;
      }
      this.#lineEnded(this.#lineBytes + feed - at);
      this.#lineBytes = 0;
      at = feed + 1;
    }
  }

  /** No field has a line of one byte, so such a line is the CR of an empty one. */
  #lineEnded(bytes: number): void {
    if (bytes <= 1) {
      if (!this.#isEventEmpty) this.ended += 1;
      this.#isEventEmpty = true;
    } else if (!this.#isComment) this.#isEventEmpty = false;
  }
}
