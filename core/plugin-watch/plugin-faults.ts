import type { Clock } from "../contract/clock.ts";
import { RouterError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { printable } from "../contract/printable.ts";
import { thrownMessage, thrownText } from "../contract/thrown-text.ts";
import { stackPlace } from "../report/stack-place.ts";

const LONGEST_TEXT = 300;
/** After a plugin's fault was logged, its further ones are only counted for so long. */
const PAUSE_MS = 10_000;

/** What a plugin threw, on one line of bounded length, with the first line of its stack in the plugin's own file. */
export function faultText(thrown: unknown, file = ""): string {
  const message = printable(thrownMessage(thrown) || thrownText(thrown));
  const text = message.length > LONGEST_TEXT ? `${message.slice(0, LONGEST_TEXT - 1)}…` : message;
  const place = stackPlace(thrown, file);
  return place === "" ? text : `${text} (${place})`;
}

/** The error of a request on which a plugin threw; `file` is the plugin's own, if it has one. */
export function failedPlugin(
  kind: string,
  { name, file }: { readonly name: string; readonly file?: string | undefined },
  cause: unknown,
  failed = "failed on this request",
): RouterError {
  const fault = { plugin: name, text: faultText(cause, file) };
  return new RouterError("plugin_fault", `The ${kind} "${name}" ${failed}; fix the plugin.`, { cause, fault });
}

/** Logs the faults of plugins: of each plugin one at once, then at most one in ten seconds with the number of those before it. */
export class PluginFaults {
  readonly #clock: Pick<Clock, "now">;
  readonly #log: Pick<Log, "warn">;
  readonly #counts = new Map<string, number>();
  /** By plugin: when its last fault came, until when none is logged, and how many came since one was. */
  readonly #faulty = new Map<string, { lastMs: number; quietUntilMs: number; unlogged: number }>();

  constructor(clock: Pick<Clock, "now">, log: Pick<Log, "warn">) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The faults of each plugin so far, by its name. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** The plugins that had a fault in the last ten seconds. */
  get lately(): readonly string[] {
    const nowMs = this.#clock.now();
    return [...this.#faulty].filter(([, { lastMs }]) => nowMs - lastMs < PAUSE_MS).map(([plugin]) => plugin);
  }

  /** `fault` is a text of faultText. */
  report(plugin: string, fault: string): void {
    this.#counts.set(plugin, (this.#counts.get(plugin) ?? 0) + 1);
    const nowMs = this.#clock.now();
    const known = this.#faulty.get(plugin) ?? { lastMs: nowMs, quietUntilMs: nowMs, unlogged: 0 };
    this.#faulty.set(plugin, known);
    known.lastMs = nowMs;
    known.unlogged += 1;
    if (nowMs < known.quietUntilMs) return;
    const times = known.unlogged;
    this.#log.warn("A plugin broke its contract", { plugin, fault, ...(times > 1 && { times }) });
    known.quietUntilMs = nowMs + PAUSE_MS;
    known.unlogged = 0;
  }
}
