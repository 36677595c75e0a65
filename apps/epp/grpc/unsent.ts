import type { MemoryBudget } from "../../../core/body/memory-budget.ts";
import type { Http2Stream, UnsentCounter } from "./http2-stream.ts";

interface StreamOwner {
  /** Streams that hold something back. */
  readonly waiting: Iterable<Http2Stream>;
  /** Ends a stream whose peer takes nothing. */
  abandon(stream: Http2Stream): void;
}

/**
 * What the streams of a connection hold back because their peer's windows are closed. It counts as unread; when that is more than half
 * of the memory for bodies, those with the most end.
 */
export class Unsent implements UnsentCounter {
  owner: StreamOwner | undefined;
  readonly #memory: MemoryBudget;
  #isLooking = false;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  change(bytes: number): void {
    this.#memory.unreadBytes += bytes;
    if (bytes <= 0 || this.#isLooking || !this.#isTooMuch) return;
    this.#isLooking = true;
    // Not at once: who sends on the stream may not find it gone before it has finished.
    queueMicrotask(() => this.#relieve());
  }

  get #isTooMuch(): boolean {
    return this.#memory.unreadBytes > this.#memory.limitBytes / 2;
  }

  #relieve(): void {
    this.#isLooking = false;
    while (this.#isTooMuch) {
      let longest: Http2Stream | undefined;
      for (const stream of this.owner?.waiting ?? []) {
        if (stream.queuedBytes > (longest?.queuedBytes ?? 0)) longest = stream;
      }
      if (longest === undefined) return;
      this.owner?.abandon(longest);
    }
  }
}
