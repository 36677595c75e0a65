import type { EndpointUrl } from "../core/contract/endpoint.ts";
import type { Definition } from "../core/contract/plugin.ts";

// What a command of the program is: the program has its own, and a feature may bring some.

/** One switch of a command, such as --json or --for TIME. */
export interface Switch {
  readonly name: string;
  readonly short?: string;
  /** What stands for its value in the help; undefined for a switch without one. */
  readonly value?: string;
  readonly isRepeated?: boolean;
  /** Its value where it is not given. */
  readonly default?: string;
  /** In one line; further lines are for the help alone. */
  readonly meaning: string;
}

/** What the command line of a command may be. */
export interface CommandSyntax {
  readonly name: string;
  readonly switches: readonly Switch[];
}

/** Which part of the work a command is for; the help shows commands by it. */
export type CommandGroup = "run" | "look" | "change" | "write plugins" | "move in";

/** A command of the program; its help, its completions and the reading of its command line are made of it. */
export interface Command extends CommandSyntax {
  readonly group: CommandGroup;
  /** What follows the name, for the help; "" for a command that takes no words. */
  readonly words: string;
  readonly summary: string;
  /** More about it, in lines, for its own help. */
  readonly details?: string;
  /** What its first word may be. */
  readonly choices?: readonly string[];
  /** It reads its command line itself, as the words of its input, and prints its own help. */
  readonly isOnItsOwn?: boolean;
  /** Returns the exit code. */
  run(input: Input, registry: ReadonlyMap<string, Definition>): number | Promise<number>;
}

/** The words and switches of a command line. */
export interface Input {
  readonly words: readonly string[];
  readonly isJson: boolean;
  /** The admin port of the router; throws UsageError for a --admin that is no address. */
  readonly admin: EndpointUrl;
  /** The text, with the commands in it written as this one was called, and for the same router. */
  asCalled(text: string): string;
  has(name: string): boolean;
  text(name: string): string | undefined;
  all(name: string): readonly string[];
}

export const JSON_SWITCH: Switch = { name: "json", meaning: "prints JSON" };

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

/** Prints a document as JSON if that is asked for, and else the text, which ends with a line feed. Returns the exit code. */
export function print({ isJson }: Input, document: unknown, text: () => string, indent = 2): number {
  process.stdout.write(isJson ? `${JSON.stringify(document, undefined, indent)}\n` : text());
  return 0;
}
