import type { Log } from "../../../core/contract/log.ts";

const MOST_CHARS = 8 * 1024;

/**
 * Logs every error and rejected promise that no code caught, and keeps the process running: a fault in one request or plugin
 * must not end all streams. Call it once. Its handlers never throw. Bun needs both: it ends the process on a rejected promise
 * even when `uncaughtException` is handled.
 */
export function logUncaught(log: Log): void {
  const handle = (message: string) => (thrown: unknown) => {
    try {
      log.error(message, { cause: causeOf(thrown) });
    } catch {
      // The log itself failed, so there is nowhere to report it.
    }
  };
  process.on("uncaughtException", handle("An error that no code caught"));
  process.on("unhandledRejection", handle("A rejected promise that no code handled"));
  // The log does not write through these streams, but a plugin may. An error without a listener would count as uncaught.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
}

/** As text, whatever was thrown: it may even be an object that throws when it is read. */
function causeOf(thrown: unknown): string {
  try {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    return (typeof stack === "string" ? stack : String(thrown)).slice(0, MOST_CHARS);
  } catch {
    return "a value that can't be shown";
  }
}
