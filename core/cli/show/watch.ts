import { setTimeout } from "node:timers/promises";
import type { Status } from "../../admin/status.ts";
import { askAdmin } from "../admin/ask-admin.ts";
import type { Input } from "../frame/command.ts";
import { CommandError, numberArgument, UsageError } from "../frame/usage.ts";
import { stopSignal } from "../start/signals.ts";
import { openScreen, type Screen } from "./screen.ts";

const DEFAULT_PERIOD_S = 2;

/** What fits: `rows` is Infinity, and `columns` too, where the output is no terminal. */
export type Size = Pick<Screen, "columns" | "rows">;

const ENDLESS: Size = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

/**
 * Draws a router's status again and again until a signal comes. Prints it once if the output is no terminal. Returns the exit code.
 * Rejects with a CommandError when the router can't be reached at first; later it waits until it can be again.
 */
export async function watch(input: Input, linesOf: (now: Status, size: Size) => readonly string[]): Promise<number> {
  if (input.isJson)
    throw new UsageError("There is no JSON of a table that is drawn anew: signalbox status --json prints it once.");
  const periodMs = periodOf(input) * 1000;
  // The admin port's own page, so its shape is known.
  const ask = async () => (await askAdmin(input.admin, "/status")) as Status;
  const first = await ask();
  const screen = openScreen();
  if (screen === undefined) {
    process.stdout.write(`${linesOf(first, ENDLESS).join("\n")}\n`);
    return 0;
  }
  const ending = new AbortController();
  const { signal } = ending;
  void stopSignal().then(() => ending.abort());
  try {
    for (let now = first, lost = ""; !signal.aborted; ) {
      const lines = [...(lost === "" ? [] : [`! ${lost}`]), ...linesOf(now, { columns: screen.columns, rows: screen.rows })];
      screen.draw(fitting(lines, screen));
      // Rejects when it is aborted.
      await setTimeout(periodMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      [now, lost] = await ask().then(
        (next) => [next, ""] as const,
        (thrown: unknown) => {
          if (!(thrown instanceof CommandError)) throw thrown;
          return [now, `This is how it was at ${now.time}. ${thrown.message}`] as const;
        },
      );
    }
    return 0;
  } finally {
    await screen.close();
  }
}

/** Cut to what fits; the last line says so where lines are left out. */
function fitting(lines: readonly string[], { columns, rows }: Size): readonly string[] {
  const shown = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), "… more than fits here"];
  return shown.map((line) => line.slice(0, columns));
}

function periodOf(input: Input): number {
  const [text, ...more] = input.words;
  if (more.length > 0) throw new UsageError("Give at most one word, the seconds between two tables: signalbox top 5");
  return text === undefined ? DEFAULT_PERIOD_S : numberArgument("SECONDS", text, 0.5, 3600);
}
