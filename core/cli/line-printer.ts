import type { Clock } from "../contract/clock.ts";

/** Lines gathered before they are written without waiting any longer. */
const MOST_CHARS = 16 * 1024;
const EVERY_MS = 100;

/** Prints lines in groups, so that a busy router does not pay one system call for each; a terminal gets them at once. */
export interface LinePrinter {
  print(line: string): void;
  /** Writes what is left and stops waiting for more. */
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
