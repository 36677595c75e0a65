import type { Log, LogFields } from "../../core/contract/log.ts";

/** A log that keeps its lines as "level: message {fields}". */
export function collectedLog(): Log & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  return { lines, info: keep("info"), warn: keep("warning"), error: keep("error") };
}
