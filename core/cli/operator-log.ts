import type { Log, LogFields } from "../contract/log.ts";
import { printable } from "../contract/printable.ts";

/** The operator's log, for the standard error: sentences on a terminal, JSON lines elsewhere. */
export function operatorLog(isTerminal: boolean, write: (text: string) => void): Log {
  const line = (text: string) => write(`${printable(text)}\n`);
  const say = (level: string, message: string, fields: LogFields = {}) => {
    if (!isTerminal) return line(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
    const details = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
    line(`${level === "info" ? "" : `${level}: `}${message}${details.join("")}`);
  };
  return {
    info: (message, fields) => say("info", message, fields),
    warn: (message, fields) => say("warning", message, fields),
    error: (message, fields) => say("error", message, fields),
  };
}
