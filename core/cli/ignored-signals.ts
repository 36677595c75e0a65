import type { Log } from "../contract/log.ts";

const MESSAGES = {
  SIGQUIT: "SIGQUIT is ignored: SIGTERM or SIGINT stops the router",
  SIGUSR1: "SIGUSR1 is ignored: it has no meaning here",
  SIGUSR2: "SIGUSR2 is ignored: it has no meaning here",
} as const;

/**
 * Logs the signals that have no meaning here and would otherwise end the process and all its streams. On Node, SIGUSR1 would open
 * a debugger. SIGPIPE is not here: Node, Deno and Bun all ignore it from the start.
 */
export function ignoreSignals(log: Log): void {
  for (const [signal, message] of Object.entries(MESSAGES)) process.on(signal, () => log.info(message));
}
