import type { Deadlines } from "./deadlines.ts";

/** Adds up what waits for readers. */
export interface UnreadCounter {
  unreadBytes: number;
}

/** How often a reader that seems to take nothing is looked at more closely: so many times within the limit. */
const LOOKS = 8;

/**
 * Tells a reader that takes nothing from one that takes its bytes slowly. Events do not: `drain` comes when everything was
 * taken, and a kernel says that it has room only when a third of its buffer is free, which is a megabyte or more.
 */
export class WriteProgress {
  readonly #deadlines: Deadlines;
  readonly #limitMs: number;
  readonly #hiddenBytes: (nowMs: number) => number | undefined;
  readonly #counter: UnreadCounter;
  /** Bytes that waited at the last sweep. */
  #waiting = 0;
  /** The last look at the bytes that are on their way. */
  #hidden: number | undefined;
  #deadlineMs = 0;
  #lookAtMs = 0;

  /** `hiddenBytes` says how many bytes are on their way to the reader and no longer ours; undefined where that can't be known. */
  constructor(deadlines: Deadlines, limitMs: number, counter: UnreadCounter, hiddenBytes: (nowMs: number) => number | undefined) {
    this.#counter = counter;
    this.#deadlines = deadlines;
    this.#limitMs = limitMs;
    this.#hiddenBytes = hiddenBytes;
  }

  /** Everything that waited was taken; what waits next may be as much. */
  drained(): void {
    if (this.#waiting > 0) this.#wait(0);
  }

  /** The reader is gone. */
  close(): void {
    this.#wait(0);
  }

  /** Called on every sweep with the bytes that wait for the reader: whether it has taken none for the limit. */
  isStalled(waiting: number, nowMs: number): boolean {
    const isMoving = this.#waiting === 0 || waiting < this.#waiting;
    if (waiting !== this.#waiting) this.#wait(waiting);
    if (waiting === 0) return false;
    if (isMoving) this.#hidden = undefined;
    else if (nowMs < this.#lookAtMs) return false;
    else if (this.#isHiddenSame(nowMs)) return nowMs >= this.#deadlineMs || this.#lookLater();
    this.#deadlineMs = this.#deadlines.nowMs + this.#limitMs;
    return this.#lookLater();
  }

  #wait(bytes: number): void {
    this.#counter.unreadBytes += bytes - this.#waiting;
    this.#waiting = bytes;
  }

  #isHiddenSame(nowMs: number): boolean {
    const before = this.#hidden;
    this.#hidden = this.#hiddenBytes(nowMs);
    return this.#hidden === before;
  }

  #lookLater(): false {
    this.#lookAtMs = Math.min(this.#deadlines.nowMs + this.#limitMs / LOOKS, this.#deadlineMs);
    return false;
  }
}
