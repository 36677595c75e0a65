import { didYouMean } from "../../config/read/problems.ts";
import type { Definition } from "../contract/plugin.ts";
import { COMMANDS } from "./commands.ts";
import { noWords, readInput } from "./frame/command.ts";
import { commandHelp, programHelp } from "./frame/help.ts";
import { failureOf, UsageError } from "./frame/usage.ts";

/** Runs one command line to its end and returns the exit code; why it failed is on the standard error. */
export async function runProgram(argv: readonly string[], registry: ReadonlyMap<string, Definition>): Promise<number> {
  try {
    return await runCommand(argv, registry);
  } catch (thrown) {
    const { text, code } = failureOf(thrown);
    process.stderr.write(text);
    return code;
  }
}

async function runCommand([word, ...rest]: readonly string[], registry: ReadonlyMap<string, Definition>): Promise<number> {
  if (word === undefined || word === "help" || word === "--help" || word === "-h") {
    process.stdout.write(programHelp(COMMANDS));
    return word === undefined ? 2 : 0;
  }
  const name = word === "--version" || word === "-v" ? "version" : word;
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) {
    const hint = didYouMean(
      name,
      COMMANDS.map((each) => each.name),
    );
    throw new UsageError(`There is no command "${word}"; "signalbox --help" lists them.${hint === "" ? "" : ` ${hint}`}`);
  }
  if (command.isOnItsOwn) return command.run(readInput(["--", ...rest], command), registry);
  if (isHelp(rest)) {
    process.stdout.write(commandHelp(command));
    return 0;
  }
  const input = readInput(rest, command);
  if (command.words === "") noWords(input, command.name);
  return command.run(input, registry);
}

/** Whether help is asked for; what follows "--" are words. */
function isHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).some((word) => word === "--help" || word === "-h");
}
