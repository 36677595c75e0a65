import type { Clock } from "../contract/clock.ts";
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

/** Logs the faults of plugins: of each plugin one at once, then at most one in ten seconds with the number of those before it. */
export class PluginFaults {
  readonly #clock: Pick<Clock, "now">;
  readonly #log: Pick<Log, "warn">;
  readonly #pauses = new Map<string, { untilMs: number; times: number }>();
  readonly #counts = new Map<string, number>();
  readonly #lastMs = new Map<string, number>();

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
    return [...this.#lastMs].filter(([, atMs]) => nowMs - atMs < PAUSE_MS).map(([name]) => name);
  }

  /** `fault` is a text of faultText. */
  report(plugin: string, fault: string): void {
    this.#counts.set(plugin, (this.#counts.get(plugin) ?? 0) + 1);
    const nowMs = this.#clock.now();
    this.#lastMs.set(plugin, nowMs);
    const pause = this.#pauses.get(plugin) ?? { untilMs: nowMs, times: 0 };
    this.#pauses.set(plugin, pause);
    pause.times += 1;
    if (nowMs < pause.untilMs) return;
    this.#log.warn("A plugin broke its contract", { plugin, fault, ...(pause.times > 1 && { times: pause.times }) });
    pause.untilMs = nowMs + PAUSE_MS;
    pause.times = 0;
  }
}
