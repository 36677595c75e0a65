import { thrownMessage } from "../contract/thrown-text.ts";

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
