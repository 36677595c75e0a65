import { isatty } from "node:tty";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Log, LogFields } from "../../../core/contract/log.ts";
import { printable } from "../../../core/contract/printable.ts";
import { type OutputNumber, openOutput } from "../../../core/runtime/standard-output.ts";
import { OutputWriter } from "../output-writer.ts";

export type Outputs = ReturnType<typeof openOutputs>;

/** Whether the standard output, and the standard error, are shown to a person. */
export type Terminals = readonly [boolean, boolean];

/**
 * The standard output and the standard error of a program that must go on whatever becomes of their readers. `terminals`: what they are
 * where another process passes them on; `fields` are in each line of the log.
 */
export function openOutputs(clock: Clock, terminals: Terminals = [isatty(1), isatty(2)], fields?: LogFields) {
  const [isTerminal, isErrorTerminal] = terminals;
  const errors = writerOf(2, isErrorTerminal, clock);
  const log = operatorLog(isErrorTerminal, errors.write, fields);
  let isFullToldOf = false;
  const lines = writerOf(1, isTerminal, clock, {
    broken(thrown) {
      log.error("The standard output can't be written to: access log lines are lost", { cause: String(thrown) });
    },
    full(thrown) {
      if (isFullToldOf) return;
      isFullToldOf = true;
      log.error("The disk of the standard output is full: access log lines are lost until there is room", {
        cause: String(thrown),
      });
    },
  });
  // Elsewhere than on a terminal a program reads the standard output: the access log alone, a JSON object in each line.
  const tell = isTerminal ? lines.write : errors.write;
  return {
    /** True when the standard output is a terminal. */
    isTerminal,
    // These write whole lines, to the standard output and the standard error; the log is on the latter too.
    print: lines.write,
    printError: errors.write,
    log,
    /** Prints text for people beside the access log. */
    tell,
    /** The same for lines that operators keep: where nobody looks on, they are lines of the log. */
    announce(text: string) {
      const logged = text.replace(/.+/g, (line) => logLine(isErrorTerminal, "info", line));
      tell(isTerminal ? text : logged);
    },
    /** Lines of both that were dropped. */
    get droppedLines() {
      return lines.droppedLines + errors.droppedLines;
    },
    /** Resolves to true once all is written, or to false after `timeoutMs`. */
    async flush(timeoutMs: number) {
      const done = await Promise.all([lines.flush(timeoutMs), errors.flush(timeoutMs)]);
      return done.every(Boolean);
    },
  };
}

/** What to do about an output that can't be written to: `broken` for good, `full` now. */
interface Troubles {
  broken?(thrown: unknown): void;
  full?(thrown: unknown): void;
}

function writerOf(output: OutputNumber, isTerminal: boolean, clock: Clock, { broken, full }: Troubles = {}): OutputWriter {
  const dropped = "Lines are missing here: they were dropped because this output was not read in time";
  const notice = (lines: number) => logLine(isTerminal, "warning", dropped, { lines });
  return new OutputWriter({ clock, write: openOutput(output, full), notice, onBroken: broken });
}

/** The operator's log, for the standard error: sentences on a terminal, JSON lines elsewhere. */
export function operatorLog(isTerminal: boolean, write: (text: string) => void, all?: LogFields): Log {
  const say = (level: string) => (message: string, fields?: LogFields) =>
    write(`${logLine(isTerminal, level, message, { ...all, ...fields })}\n`);
  return { info: say("info"), warn: say("warning"), error: say("error") };
}

/** One line of it. */
function logLine(isTerminal: boolean, level: string, message: string, fields: LogFields = {}): string {
  if (!isTerminal) return printable(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return printable(`${level === "info" ? "" : `${level}: `}${message}${details.join("")}`);
}
