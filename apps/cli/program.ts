import { type Command, UsageError } from "../../config/command.ts";
import { didYouMean } from "../../config/read/problems.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import { commandsOf } from "./commands.ts";
import { asCalledBy } from "./frame/as-called.ts";
import { noWords, readInput } from "./frame/command.ts";
import { commandHelp, helpColumns, programHelp, shortHelp, wholeHelp } from "./frame/help.ts";
import { failureOf } from "./frame/usage.ts";
import { colouredProblems } from "./show/colour.ts";

/** Runs one command line to its end and returns the exit code; why it failed is on the standard error. */
export async function runProgram(argv: readonly string[], registry: ReadonlyMap<string, Definition>): Promise<number> {
  const commands = commandsOf(registry);
  const { env, versions } = process;
  const asCalled = asCalledBy({ argv: process.argv, env, versions, cwd: process.cwd() }, commands, argv);
  try {
    return await runCommand(argv, commands, registry, asCalled);
  } catch (thrown) {
    const { text, code } = failureOf(thrown);
    process.stderr.write(colouredProblems(asCalled(text), process.stderr));
    return code;
  }
}

async function runCommand(
  [word, ...rest]: readonly string[],
  commands: readonly Command[],
  registry: ReadonlyMap<string, Definition>,
  asCalled: (text: string) => string,
): Promise<number> {
  if (word === undefined || word === "help" || word === "--help" || word === "-h") {
    const [about] = rest.filter((each) => !each.startsWith("-"));
    if (about !== undefined) return helpOf(commandNamed(about, commands), registry, asCalled);
    const text = rest.includes("--all") ? wholeHelp(commands, helpColumns()) : programHelp(commands, helpColumns());
    process.stdout.write(asCalled(text));
    return word === undefined ? 2 : 0;
  }
  const command = commandNamed(word === "--version" || word === "-v" ? "version" : word, commands);
  if (command.isOnItsOwn) return command.run(readInput(["--", ...rest], command, asCalled), registry);
  if (isHelp(rest)) {
    process.stdout.write(asCalled(commandHelp(command, helpColumns())));
    return 0;
  }
  const input = readInput(rest, command, asCalled);
  if (command.words === "") noWords(input, command.name);
  const [first = ""] = input.words;
  const { choices = [first] } = command;
  const meant = choices.includes(first) ? "" : didYouMean(first, choices);
  if (meant !== "") throw new UsageError(`"signalbox ${command.name}" wants ${choices.join(", ")}, not "${first}". ${meant}`);
  return command.run(input, registry);
}

/** Throws UsageError where there is none of this name. */
function commandNamed(name: string, commands: readonly Command[]): Command {
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return command;
  const names = commands.map((each) => each.name);
  throw new UsageError(`There is no command "${name}"; "signalbox --help" lists them. ${didYouMean(name, names)}`.trimEnd());
}

/** `signalbox help COMMAND`. */
function helpOf(
  command: Command,
  registry: ReadonlyMap<string, Definition>,
  asCalled: (text: string) => string,
): number | Promise<number> {
  if (command.isOnItsOwn) return command.run(readInput(["--", "--help"], command, asCalled), registry);
  process.stdout.write(asCalled(shortHelp(command, helpColumns())));
  return 0;
}

/** Whether help is asked for; what follows "--" are words. */
function isHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).some((word) => word === "--help" || word === "-h");
}
