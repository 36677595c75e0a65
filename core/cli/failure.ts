import { printableLines } from "../contract/printable.ts";
import { CommandError } from "./usage.ts";

/** What a command that failed prints on the standard error, and its exit code. */
export function failureOf(thrown: unknown): { readonly text: string; readonly code: number } {
  const text = printableLines(`signalbox: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  return { text, code: thrown instanceof CommandError ? thrown.exitCode : 1 };
}
