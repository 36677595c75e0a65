import { setTimeout } from "node:timers";

/** Deno opens it in the moments after the signal. */
const LOOKS_MS = [0, 20, 100, 500];

/** Closes the debugger that Deno opens at SIGUSR1, whoever listens for that signal. */
export function closeDebugger(): void {
  void import("node:inspector").then((inspector) => {
    for (const ms of LOOKS_MS)
      setTimeout(() => {
        if (inspector.url() !== undefined) inspector.close();
      }, ms).unref();
  });
}
