import type { Clock } from "../contract/clock.ts";

/** Lines are written at once when they have this many characters together. */
const MOST_CHARS = 16 * 1024;
const EVERY_MS = 100;

/**
 * Prints lines in groups, because a system call for each is too expensive for a busy router. A terminal gets each line at once.
 */
export interface LinePrinter {
  print(line: string): void;
  /** Writes the lines that are left and stops the timer. */
  close(): void;
}

export function linePrinter(clock: Clock, isTerminal: boolean, write: (text: string) => void): LinePrinter {
  if (isTerminal) return { print: (line) => write(`${line}\n`), close() {} };
  let gathered = "";
  const flush = () => {
    if (gathered === "") return;
    const text = gathered;
    gathered = "";
    write(text);
  };
  const stop = clock.every(EVERY_MS, flush);
  return {
    print(line) {
      gathered += `${line}\n`;
      if (gathered.length >= MOST_CHARS) flush();
    },
    close() {
      stop();
      flush();
    },
  };
}
