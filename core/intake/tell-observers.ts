import type { ActiveConfig } from "../active-config.ts";
import type { Log } from "../contract/log.ts";
import type { Outcome } from "../contract/outcome.ts";
import { thrownText } from "../contract/thrown-text.ts";

/** Hands the outcome to all observers. One that throws, or whose `finished` is async and fails, is logged. */
export function tellObservers(observers: ActiveConfig["observers"], outcome: Outcome, log: Log): void {
  for (const { name, plugin } of observers) {
    try {
      const returned: unknown = plugin.finished(outcome);
      if (returned instanceof Promise) returned.catch((thrown: unknown) => logFailure(name, thrown, log));
    } catch (thrown) {
      logFailure(name, thrown, log);
    }
  }
}

function logFailure(plugin: string, thrown: unknown, log: Log): void {
  log.warn("An observer failed", { plugin, fault: thrownText(thrown) });
}
