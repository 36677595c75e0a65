import type { Log } from "../../../core/contract/log.ts";
import { closeDebugger } from "../../../core/runtime/close-debugger.ts";
import { whenNpxShellEnds } from "../../../core/runtime/npx-shell.ts";
import { exit } from "../../../core/runtime/stray-exit.ts";
import { isDebuggerReachable, isTerminalGone } from "../early-signals.mjs";

/**
 * Ctrl-C reaches every process of a terminal, and "npm start" passes on what it gets itself: one key press can come twice. So a
 * signal within this time of the first one is the same one.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Resolves at the first SIGINT or SIGTERM, at a SIGHUP that tells of a closed terminal, or when the npx that began it was stopped. A
 * second one ends the process at once, with exit code 130.
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
    const stopIfTerminalIsGone = () => {
      if (isTerminalGone()) stop();
    };
    process.on("SIGHUP", stopIfTerminalIsGone);
    // The signal may have come before.
    stopIfTerminalIsGone();
    whenNpxShellEnds(stop);
  });
}

export type ReloadSignal = ReturnType<typeof reloadSignal>;

/**
 * What SIGHUP does while there is a terminal, or never was one. Registered before there is a config to reload, since the signal would
 * end the process otherwise.
 */
export function reloadSignal() {
  let run: (() => void) | undefined;
  let wasEarly = false;
  process.on("SIGHUP", () => {
    if (isTerminalGone()) return;
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

const REACHABLE =
  "SIGUSR1 opens Deno's debugger for a moment, in which any process of this machine can run code in the router: start Deno with -A, or with --allow-ffi too, and the system throws that signal away";

/**
 * Logs the signals that have no meaning here and would otherwise end the process and all its streams. SIGUSR1 would open a debugger on
 * Node; on Deno it never comes here, see apps/cli/early-signals.mjs. SIGPIPE is not here: all runtimes ignore it from the start.
 */
export function ignoreSignals(log: Log): void {
  for (const [signal, message] of Object.entries(IGNORED)) process.on(signal, () => log.info(message));
  if (!isDebuggerReachable) return;
  log.warn(REACHABLE);
  // Also for a signal that came before there was a log.
  closeDebugger();
  process.on("SIGUSR1", closeDebugger);
}
