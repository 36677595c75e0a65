import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { isatty } from "node:tty";
import { CommandError, type Input, UsageError } from "../../../config/command.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { cut } from "../../../core/report/text-width.ts";
import { openOutput, type WriteSome } from "../../../core/runtime/standard-output.ts";
import type { Status } from "../../admin/status.ts";
import { numberArgument } from "../frame/usage.ts";
import { colouredState } from "../show/colour.ts";
import { onKeys } from "../show/keys.ts";
import { stopSignal } from "../start/signals.ts";
import { askAdmin } from "./ask-admin.ts";

const DEFAULT_PERIOD_S = 2;

const HIDE_CURSOR = "\x1b[?25l";
const OTHER_SCREEN = "\x1b[?1049h";
/** Lines that are too long are cut, not continued: terminals differ in how wide they draw some characters. */
const CUT_LINES = "\x1b[?7l";
const RESTORE = "\x1b[?7h\x1b[?1049l\x1b[?25h";
const TOP_LEFT = "\x1b[H";
const END_OF_LINE = "\x1b[K";
const END_OF_SCREEN = "\x1b[J";
/** A terminal that gives each key at once gives this instead of a signal. */
const CTRL_C = "\x03";

/** How long the end waits for a terminal that takes nothing. */
const LAST_FRAME_MS = 300;

/** What fits: Infinity where the output is no terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const ENDLESS: Size = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

/**
 * Draws a router's status again and again until q is pressed or a signal comes. Prints it once if the output is no terminal. Returns the exit code.
 * Rejects with a CommandError when the router can't be reached at first; later it waits until it can be again.
 */
export async function watch(input: Input, linesOf: (now: Status, size: Size) => readonly string[]): Promise<number> {
  if (input.isJson)
    throw new UsageError("There is no JSON of a table that is drawn anew: signalbox status --json prints it once.");
  const periodMs = periodOf(input) * 1000;
  const ask = () => askAdmin<Status>(input, "/status");
  const first = await ask();
  const screen = openScreen();
  if (screen === undefined) {
    process.stdout.write(`${linesOf(first, ENDLESS).join("\n")}\n`);
    return 0;
  }
  const ending = new AbortController();
  const { signal } = ending;
  const end = () => ending.abort();
  void stopSignal().then(end);
  const keys = onKeys(["q", "Q", CTRL_C], end);
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
    keys.close();
    await screen.close();
  }
}

/** Cut to what fits; the last line says so where lines are left out. */
function fitting(lines: readonly string[], { columns, rows }: Size): readonly string[] {
  const shown = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), "… more than fits here"];
  return shown.map((line) => colouredState(cut(line, columns)));
}

function periodOf(input: Input): number {
  const [text, ...more] = input.words;
  if (more.length > 0) throw new UsageError("Give at most one word, the seconds between two tables: signalbox top 5");
  return text === undefined ? DEFAULT_PERIOD_S : numberArgument("SECONDS", text, 0.5, 3600);
}

/**
 * Where a table is drawn again and again: the terminal's second screen, so that what was there before returns at the end, also when an
 * error ends the process. Undefined when the standard output is no terminal.
 */
export function openScreen() {
  if (!isatty(1)) return undefined;
  const write = openOutput(1);
  /** What goes in front of the next frame. */
  let opening = OTHER_SCREEN + HIDE_CURSOR + CUT_LINES;
  /** The frame that the terminal has not taken yet. */
  let drawing: Promise<void> | undefined;
  process.on("exit", restore);
  // Deno tells no "exit" after an error, and Bun prints the error first, on the screen that is about to go.
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return {
    get columns() {
      return process.stdout.columns || 80;
    },
    get rows() {
      return process.stdout.rows || 24;
    },
    /** Shows these lines in place of those before; skipped while the terminal has not taken the last ones. Lines must be printable. */
    draw(lines: readonly string[]): void {
      if (drawing !== undefined) return;
      const text = opening + TOP_LEFT + lines.map((line) => line + END_OF_LINE).join("\n") + END_OF_SCREEN;
      opening = "";
      drawing = writeAll(write, text).then(() => {
        drawing = undefined;
      });
    },
    /** Gives the terminal back as it was. */
    async close() {
      if (drawing !== undefined) await Promise.race([drawing, setTimeout(LAST_FRAME_MS)]);
      process.off("exit", restore);
      process.off("uncaughtException", crash);
      process.off("unhandledRejection", crash);
      restore();
    },
  };
}

/** Never rejects: a terminal that is gone needs no drawing. */
async function writeAll(write: WriteSome, text: string): Promise<void> {
  let rest: Uint8Array = Buffer.from(text);
  try {
    while (rest.length > 0) {
      const taken = await write(rest);
      if (taken === 0) await setTimeout(50);
      rest = rest.subarray(taken);
    }
  } catch {
    // The process gets SIGHUP.
  }
}

/** At once, because the process may be about to end. */
function restore(): void {
  try {
    writeSync(1, RESTORE);
  } catch {
    // A terminal that is gone, or that takes nothing.
  }
}

function crash(thrown: unknown): void {
  restore();
  process.stderr.write(`${printableLines(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))}\n`);
  process.exit(1);
}
