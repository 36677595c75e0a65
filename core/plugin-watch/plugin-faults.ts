import type { Clock } from "../contract/clock.ts";
import { RouterError, whyUntellable } from "../contract/errors.ts";
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

interface FailedPlugin {
  readonly name: string;
  readonly file?: string | undefined;
}

/** The error of a request on which a plugin threw; `file` is the plugin's own, if it has one. */
export function failedPlugin(
  kind: string,
  { name, file }: FailedPlugin,
  cause: unknown,
  failed = "failed on this request",
): RouterError {
  const fault = { plugin: name, text: faultText(cause, file) };
  return new RouterError("plugin_fault", `The ${kind} "${name}" ${failed}; fix the plugin.`, { cause, fault });
}

/** A refusal of a plugin that may refuse as it is; anything else that it throws is its fault. */
export function refusalBy(kind: string, plugin: FailedPlugin, thrown: unknown, failed?: string): RouterError {
  if (!(thrown instanceof RouterError)) return failedPlugin(kind, plugin, thrown, failed);
  const why = whyUntellable(thrown);
  return why === "" ? thrown : failedPlugin(kind, plugin, new TypeError(why), failed);
}

/** Is told when a plugin breaks its contract. */
export interface FaultReporter {
  /** `fault` is a text of faultText. */
  report(plugin: string, fault: string): void;
}

/** Logs the faults of plugins: of each plugin one at once, then at most one in ten seconds with the number of those before it. */
export class PluginFaults implements FaultReporter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #counts = new Map<string, number>();
  /** By plugin: when its last fault came, until when none is logged, and how many came since one was. */
  readonly #faulty = new Map<string, { lastMs: number; quietUntilMs: number; unlogged: number }>();

  constructor(clock: Clock, log: Log) {
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
