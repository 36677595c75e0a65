import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pipe that the test reads when it wants to: between two reads it is a reader that has stalled. */
export interface LogReader {
  /** What the program writes to. */
  readonly path: string;
  /** What the pipe holds now; "" when it is empty. */
  read(): string;
  /** Goes away, as a log collector that has died. */
  close(): void;
}

/** Pipes hold 64 KiB. */
const READ_BYTES = 64 * 1024;

export function makeLogReader(): LogReader {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-pipe-"));
  const path = join(folder, "log");
  execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', path]);
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(READ_BYTES);
  let isOpen = true;
  return {
    path,
    read() {
      if (!isOpen) return "";
      try {
        return buffer.toString("latin1", 0, readSync(file, buffer));
      } catch (thrown) {
        // EAGAIN: a writer is there and has written nothing. Deno names it only in the message.
        if (/EAGAIN|temporarily unavailable|os error 11/.test(String(thrown))) return "";
        throw thrown;
      }
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      closeSync(file);
      rmSync(folder, { recursive: true });
    },
  };
}
