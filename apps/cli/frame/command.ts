import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type CommandSyntax, type Input, UsageError } from "../../../config/command.ts";
import { didYouMean } from "../../../config/read/problems.ts";
import { durationMs } from "../../../config/schema/units.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { isHandedOver, readBoundedNow } from "../../../core/runtime/read-file.ts";
import { DEFAULT_ADMIN } from "../../../core/settings/default-admin.ts";
import { numberArgument, switchError, urlArgument } from "./usage.ts";

export const ADMIN_VARIABLE = "SIGNALBOX_ADMIN";
export const DEFAULT_ADMIN_URL = `http://${DEFAULT_ADMIN.host}:${DEFAULT_ADMIN.port}`;

const ADMIN_WANTED = `--admin (or ${ADMIN_VARIABLE}) wants the address of a router's admin port, such as ${DEFAULT_ADMIN_URL}`;

/** Reads a command line. Throws UsageError for switches that the command does not have. */
export function readInput(
  argv: readonly string[],
  { name: command, switches }: CommandSyntax,
  asCalled = (text: string) => text,
): Input {
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
    asCalled,
    isJson: values["json"] === true,
    get admin() {
      return urlArgument(text("admin") ?? process.env[ADMIN_VARIABLE] ?? DEFAULT_ADMIN_URL, ADMIN_WANTED);
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

/** Of a file that a switch names. */
const MOST_TEXT_BYTES = 64 * 1024;

/** The text in the file that a switch names, such as a key; undefined where it is not given. Throws UsageError. */
export function fileTextOf({ text }: Input, name: string): string | undefined {
  const file = text(name);
  if (file === undefined) return undefined;
  try {
    const bytes = isHandedOver(file) ? readFileSync(file) : readBoundedNow(file, MOST_TEXT_BYTES);
    return bytes.toString("utf8").trim();
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
export function headersOf(input: Input): ReadonlyMap<string, string> {
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
