import type { Clock } from "../../core/contract/clock.ts";
import type { WriteSome } from "../../core/runtime/standard-output.ts";

/** Bytes that wait at most, those of the write under way included. */
const MOST_BYTES = 1024 * 1024;
/** Lines are dropped until no more than this waits, so that a slow reader gets one notice for many lines. */
const RESUME_BYTES = MOST_BYTES / 2;
/** How long to wait when the output takes nothing at all. */
const RETRY_MS = 50;

export interface OutputWriterOptions {
  readonly clock: Clock;
  readonly write: WriteSome;
  /** The line that stands where lines were dropped. */
  readonly notice: (lines: number) => string;
  /** Called once, when nothing can be written any more. */
  readonly onBroken?: ((thrown: unknown) => void) | undefined;
}

/**
 * Writes lines to an output whose reader may be slow, stall or go away. What can't be written yet waits, up to a bound; beyond it
 * whole lines are dropped and counted.
 */
export class OutputWriter {
  readonly #options: OutputWriterOptions;
  readonly #queue: Uint8Array[] = [];
  readonly #waiting = new Set<() => void>();
  #queuedBytes = 0;
  #isWriting = false;
  #isBroken = false;
  #droppedLines = 0;
  /** Lines dropped since the last notice. */
  #unreported = 0;

  constructor(options: OutputWriterOptions) {
    this.#options = options;
  }

  /** All lines that were dropped since the start. */
  get droppedLines(): number {
    return this.#droppedLines;
  }

  /** Takes one or more whole lines; bytes may not change any more. Never waits and never throws. */
  readonly write = (lines: string | Uint8Array): void => {
    const bytes = typeof lines === "string" ? Buffer.from(lines) : lines;
    const isTaken = !this.#isBroken && this.#unreported === 0 && this.#queuedBytes + bytes.length <= MOST_BYTES;
    if (isTaken) this.#enqueue(bytes);
    else this.#drop(lineFeeds(bytes));
  };

  /** Resolves to true once nothing waits any more, or to false after `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean> {
    if (!this.#isWriting) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (isDone: boolean) => {
        this.#waiting.delete(wake);
        cancel();
        resolve(isDone);
      };
      const wake = () => settle(true);
      const cancel = this.#options.clock.after(timeoutMs, () => settle(false));
      this.#waiting.add(wake);
    });
  }

  #enqueue(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (!this.#isWriting) void this.#writeAll();
  }

  #drop(lines: number): void {
    this.#droppedLines += lines;
    if (this.#isBroken) return;
    this.#unreported += lines;
    this.#report();
  }

  /** Puts the notice where the dropped lines would be, once there is room; from then on lines are taken again. */
  #report(): void {
    if (this.#unreported === 0 || this.#queuedBytes > RESUME_BYTES) return;
    const lines = this.#unreported;
    this.#unreported = 0;
    this.#enqueue(Buffer.from(`${this.#options.notice(lines)}\n`));
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    try {
      for (let bytes = this.#queue[0]; bytes !== undefined; bytes = this.#queue[0]) {
        const taken = await this.#options.write(bytes);
        this.#queuedBytes -= taken;
        if (taken === bytes.length) this.#queue.shift();
        else this.#queue[0] = bytes.subarray(taken);
        if (taken === 0) await this.#pause();
        this.#report();
      }
    } catch (thrown) {
      this.#break(thrown);
    }
    this.#isWriting = false;
    for (const wake of [...this.#waiting]) wake();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(RETRY_MS, resolve));
  }

  #break(thrown: unknown): void {
    this.#isBroken = true;
    for (const bytes of this.#queue.splice(0)) this.#droppedLines += lineFeeds(bytes);
    this.#queuedBytes = 0;
    this.#unreported = 0;
    this.#options.onBroken?.(thrown);
  }
}

function lineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
