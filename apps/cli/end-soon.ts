import { exit } from "../../core/runtime/stray-exit.ts";

/** How long the program waits for what plugins still have under way: an exporter gets the time for its last request. */
const LAST_WORK_MS = 5_000;

/**
 * Ends the program though a plugin's module has left a timer or a connection open, or never finishes loading: without it, `check` would
 * wait for that without end. What is not printed yet is waited for.
 */
export function endSoon(code: number): void {
  const isPrinted = () => process.stdout.writableLength === 0;
  setTimeout(() => (isPrinted() ? exit(code) : endSoon(code)), LAST_WORK_MS).unref();
}
