import { printableLines } from "../../contract/printable.ts";
import { thrownMessage } from "../../contract/thrown-text.ts";

/** Why a command failed, and its exit code: 1 invalid config or a check that failed, 3 degraded, 4 unreachable. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An invalid command line; the message says what to write instead. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(2, message);
  }
}

/** What `parseArgs` of node:util threw, as one line; `help` is the command that lists the switches. */
export function switchError(thrown: unknown, help: string): UsageError {
  return new UsageError(`${thrownMessage(thrown).split(/\.?\n|\. To specify/)[0]}; ${help} lists the switches.`);
}

/** Reads a number within bounds; `name` is what the message calls it. Throws UsageError. */
export function numberArgument(name: string, text: string, min: number, max: number, isWhole = false): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`${name} wants a ${isWhole ? "whole " : ""}number from ${min} to ${max}, not "${text}".`);
}

/** What a command that failed prints on the standard error, and its exit code. */
export function failureOf(thrown: unknown): { readonly text: string; readonly code: number } {
  const text = printableLines(`signalbox: ${thrownMessage(thrown)}\n`);
  return { text, code: thrown instanceof CommandError ? thrown.exitCode : 1 };
}
