const LF = 0x0a;

/** Counts the events of an event stream that have ended, whatever pieces they come in. Lines end with LF or CRLF. */
export class EventCount {
  /** Events so far; comments between two empty lines count too. */
  ended = 0;
  /** Bytes of the line that has not ended. */
  #lineBytes = 0;
  #isEventEmpty = true;

  /** Reads chunk[start, end). Costs one search for each line. */
  read(chunk: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
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
    const isEmpty = bytes <= 1;
    if (isEmpty && !this.#isEventEmpty) this.ended += 1;
    this.#isEventEmpty = isEmpty;
  }
}
