import type { Log, LogFields } from "../../contract/log.ts";
import { printable } from "../../contract/printable.ts";

/** The operator's log, for the standard error: sentences on a terminal, JSON lines elsewhere. */
export function operatorLog(isTerminal: boolean, write: (text: string) => void): Log {
  const say = (level: string) => (message: string, fields?: LogFields) =>
    write(`${logLine(isTerminal, level, message, fields)}\n`);
  return { info: say("info"), warn: say("warning"), error: say("error") };
}

/** One line of it. */
export function logLine(isTerminal: boolean, level: string, message: string, fields: LogFields = {}): string {
  if (!isTerminal) return printable(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return printable(`${level === "info" ? "" : `${level}: `}${message}${details.join("")}`);
}
