import type { Log } from "../../contract/log.ts";
import { closeDebugger } from "../../runtime/close-debugger.ts";
import { whenNpxShellEnds } from "../../runtime/npx-shell.ts";
import { exit } from "../../runtime/stray-exit.ts";

/**
 * Ctrl-C reaches every process of a terminal, and "npm start" passes on what it gets itself: one key press can come twice. So a
 * signal within this time of the first one is the same one.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Resolves at the first SIGINT or SIGTERM, or when the npx that began it was stopped. A second one ends the process at once, with
 * exit code 130.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const stop = () => {
      const nowMs = performance.now();
      firstMs ??= nowMs;
      if (nowMs - firstMs > SAME_SIGNAL_MS) exit(130);
      resolve();
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
    whenNpxShellEnds(stop);
  });
}

export type ReloadSignal = ReturnType<typeof reloadSignal>;

/** What SIGHUP does. Registered before there is a config to reload, since the signal would end the process otherwise. */
export function reloadSignal() {
  let run: (() => void) | undefined;
  let wasEarly = false;
  process.on("SIGHUP", () => {
    if (run === undefined) wasEarly = true;
    else run();
  });
  return {
    /** Calls `listener` at each SIGHUP from now on, and at once if there was one before. */
    listen(listener: () => void): void {
      run = listener;
      if (wasEarly) listener();
    },
  };
}

const IGNORED = {
  SIGQUIT: "SIGQUIT is ignored: SIGTERM or SIGINT stops the router",
  SIGUSR1: "SIGUSR1 is ignored: it has no meaning here",
  SIGUSR2: "SIGUSR2 is ignored: it has no meaning here",
} as const;

/**
 * Logs the signals that have no meaning here and would otherwise end the process and all its streams. SIGUSR1 would open a
 * debugger: on Node where nobody listens for it, on Deno always. SIGPIPE is not here: all runtimes ignore it from the start.
 */
export function ignoreSignals(log: Log): void {
  for (const [signal, message] of Object.entries(IGNORED)) process.on(signal, () => log.info(message));
  // Also for a signal that came before there was a log.
  closeDebugger();
  process.on("SIGUSR1", closeDebugger);
}
