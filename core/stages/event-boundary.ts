const LF = 0x0a;

/** Follows the end of an event stream by its last two bytes, to know whether an event is open when the stream breaks. */
export class EventBoundary {
  #last = LF;
  #beforeLast = LF;

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount; i++) {
      const start = spans[2 * i]!;
      const end = spans[2 * i + 1]!;
      if (end - start === 0) continue;
      this.#beforeLast = end - start >= 2 ? chunk[end - 2]! : this.#last;
      this.#last = chunk[end - 1]!;
    }
  }

  /** What must be sent before another event can begin. */
  closing(): string {
    // After a lone CRLF the event may still be open; an empty line too many means nothing to a reader.
    return this.#last === LF && this.#beforeLast === LF ? "" : "\n\n";
  }
}
