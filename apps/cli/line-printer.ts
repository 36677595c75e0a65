import type { Clock } from "../../core/contract/clock.ts";

/** Lines are gathered until they fill this many bytes. A write costs about as much as copying 64 KB. */
const MOST_BYTES = 128 * 1024;
/** Lines are also written when the first of them has waited this long. */
const LONGEST_MS = 100;
/** A UTF-16 code unit takes at most so many bytes in UTF-8. */
const MOST_UNIT_BYTES = 3;
const LINE_FEED = 10;

const UTF8 = new TextEncoder();

/**
 * Prints lines in groups, because a system call for each is too expensive for a busy router. A terminal gets each line at once.
 */
export interface LinePrinter {
  print(line: string): void;
  /** Writes the lines that are left and stops the timer. */
  close(): void;
}

export function linePrinter(clock: Clock, isTerminal: boolean, write: (lines: string | Uint8Array) => void): LinePrinter {
  if (isTerminal) return { print: (line) => write(`${line}\n`), close() {} };
  const gathered = new Uint8Array(MOST_BYTES);
  let length = 0;
  const flush = () => {
    if (length === 0) return;
    const lines = gathered.slice(0, length);
    length = 0;
    write(lines);
  };
  let cancel: (() => void) | undefined;
  const flushOnTime = () => {
    cancel = undefined;
    flush();
  };
  return {
    print(line) {
      const mostBytes = line.length * MOST_UNIT_BYTES + 1;
      if (mostBytes > MOST_BYTES - length) flush();
      if (mostBytes > MOST_BYTES) return write(`${line}\n`);
      // Encoded now: to join many lines first is faster in a benchmark, but slower in the router, where they have left the caches by then.
      length += UTF8.encodeInto(line, length === 0 ? gathered : gathered.subarray(length)).written;
      gathered[length] = LINE_FEED;
      length += 1;
      cancel ??= clock.after(LONGEST_MS, flushOnTime);
    },
    close() {
      cancel?.();
      cancel = undefined;
      flush();
    },
  };
}
