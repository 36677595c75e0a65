import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { didYouMean } from "../../../config/read/problems.ts";
import { durationMs } from "../../../config/schema/units.ts";
import type { EndpointUrl } from "../../contract/endpoint.ts";
import { parseEndpointUrl } from "../../contract/endpoint-url.ts";
import type { Definition } from "../../contract/plugin.ts";
import { thrownMessage } from "../../contract/thrown-text.ts";
import { DEFAULT_ADMIN } from "../../settings/tables.ts";
import { numberArgument, switchError, UsageError } from "./usage.ts";

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

/** A command of the program; its help, its completions and the reading of its command line are made of it. */
export interface Command {
  readonly name: string;
  /** What follows the name, for the help; "" for a command that takes no words. */
  readonly words: string;
  readonly summary: string;
  /** More about it, in lines, for its own help. */
  readonly details?: string;
  readonly switches: readonly Switch[];
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
  has(name: string): boolean;
  text(name: string): string | undefined;
  all(name: string): readonly string[];
}

const ADMIN_VARIABLE = "SIGNALBOX_ADMIN";
export const DEFAULT_ADMIN_URL = `http://${DEFAULT_ADMIN.host}:${DEFAULT_ADMIN.port}`;

/** Reads a command line. Throws UsageError for switches that the command does not have. */
export function readInput(argv: readonly string[], { name: command, switches }: Pick<Command, "name" | "switches">): Input {
  const options = Object.fromEntries(
    switches.map(({ name, short, value, isRepeated = false, default: usual }) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: isRepeated,
        ...(short !== undefined && { short }),
        ...(usual !== undefined && { default: usual }),
      },
    ]),
  );
  const { values, positionals } = parsed(argv, options, command);
  const text = (name: string) => (typeof values[name] === "string" ? values[name] : undefined);
  return {
    words: positionals,
    isJson: values["json"] === true,
    get admin() {
      return adminUrl(text("admin") ?? process.env[ADMIN_VARIABLE] ?? DEFAULT_ADMIN_URL);
    },
    has: (name) => values[name] === true,
    text,
    all: (name) => (Array.isArray(values[name]) ? (values[name] as string[]) : []),
  };
}

function parsed(argv: readonly string[], options: NonNullable<ParseArgsConfig["options"]>, command: string) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (thrown) {
    const error = switchError(thrown, `"signalbox ${command} --help"`);
    const hint = didYouMean(unknownSwitch(thrown), Object.keys(options));
    throw hint === "" ? error : new UsageError(`${error.message} ${hint.replace('"', '"--')}`);
  }
}

/** The name of the switch that there is not; "" for another error. */
function unknownSwitch(thrown: unknown): string {
  return /^Unknown option '--([^'=]+)/.exec(thrownMessage(thrown))?.[1] ?? "";
}

function adminUrl(text: string): EndpointUrl {
  try {
    return parseEndpointUrl(text);
  } catch {
    throw new UsageError(
      `--admin (or ${ADMIN_VARIABLE}) wants the address of a router's admin port, such as ${DEFAULT_ADMIN_URL}.`,
    );
  }
}

/** Seconds of a switch such as --for 10m; a bare number is in seconds. Throws UsageError. */
export function secondsOf(input: Input, name: string): number | undefined {
  const text = input.text(name);
  if (text === undefined) return undefined;
  const ms = durationMs(text, 1000);
  if (ms === undefined) throw new UsageError(`--${name} wants a time such as 90s, 10m or 2h, not "${text}".`);
  return ms / 1000;
}

/** The number of a switch; undefined where it is not given. Throws UsageError. */
export function numberOf(input: Input, name: string, min: number, max: number, isWhole = false): number | undefined {
  const text = input.text(name);
  return text === undefined ? undefined : numberArgument(`--${name}`, text, min, max, isWhole);
}

/** The text in the file that a switch names, such as a key; undefined where it is not given. Throws UsageError. */
export function fileTextOf({ text }: Pick<Input, "text">, name: string): string | undefined {
  const file = text(name);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    throw new UsageError(`--${name} names a file that can't be read: ${file}.`);
  }
}

/** As HTTP has them. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;

/**
 * The headers of --header, by their names in lower case; a name that is given twice has both values, as HTTP joins them. Throws
 * UsageError.
 */
export function headersOf(input: Pick<Input, "all">): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const text of input.all("header")) {
    const [, name, value] = HEADER.exec(text) ?? [];
    // The text may hold a secret, so it is not shown.
    if (name === undefined || value === undefined)
      throw new UsageError('--header wants a name and a value, such as "x-user: ada".');
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** Exactly one word. Throws UsageError with an example. */
export function onlyWord({ words }: Input, what: string, example: string): string {
  const [word] = words;
  if (word === undefined || words.length !== 1) throw new UsageError(`Name ${what}: ${example}`);
  return word;
}

/** No words. Throws UsageError. */
export function noWords({ words }: Input, command: string): void {
  if (words.length > 0) throw new UsageError(`"signalbox ${command}" takes no further words; --help shows its switches.`);
}

/** Prints a document as JSON if that is asked for, and else the text, which ends with a line feed. Returns the exit code. */
export function print({ isJson }: Input, document: unknown, text: () => string, indent = 2): number {
  process.stdout.write(isJson ? `${JSON.stringify(document, undefined, indent)}\n` : text());
  return 0;
}
