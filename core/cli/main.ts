#!/usr/bin/env node
import { didYouMean } from "../../config/read/did-you-mean.ts";
import { builtIns } from "../../plugins/registry.ts";
import { COMMANDS } from "./commands.ts";
import { noWords, readInput } from "./frame/command.ts";
import { commandHelp, programHelp } from "./frame/help.ts";
import { failureOf, UsageError } from "./frame/usage.ts";

/** Runs one command and returns its exit code. */
async function main([word, ...rest]: readonly string[]): Promise<number> {
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
  if (command.isOnItsOwn) return command.run(readInput(["--", ...rest], command), builtIns);
  if (isHelp(rest)) {
    process.stdout.write(commandHelp(command));
    return 0;
  }
  const input = readInput(rest, command);
  if (command.words === "") noWords(input, command.name);
  return command.run(input, builtIns);
}

/** Whether help is asked for; what follows "--" are words. */
function isHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).some((word) => word === "--help" || word === "-h");
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (thrown: unknown) => {
    const { text, code } = failureOf(thrown);
    process.stderr.write(text);
    process.exitCode = code;
  },
);
