import type { Log } from "../contract/log.ts";

const MOST_CHARS = 8 * 1024;

/**
 * Logs every error and rejected promise that no code caught, and keeps the process running: a fault in one request, or in a
 * plugin, must not end everybody's streams. Installed once; it never throws. Without it Node and Deno end the process, and Bun
 * does even when only `uncaughtException` is handled.
 */
export function logUncaught(log: Log): void {
  const handle = (message: string) => (thrown: unknown) => {
    try {
      log.error(message, { cause: causeOf(thrown) });
    } catch {
      // There is nobody left to tell.
    }
  };
  process.on("uncaughtException", handle("An error that no code caught"));
  process.on("unhandledRejection", handle("A rejected promise that no code handled"));
  // A closed pipe emits an error for each write; the first one is enough.
  let handleOutput = handle("The standard output can't be written to: access log lines are lost");
  process.stdout.on("error", (error) => {
    handleOutput(error);
    handleOutput = () => {};
  });
  // Uncaught, an error of this one would be logged, and so be written to the same pipe again, forever.
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
