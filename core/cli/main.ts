#!/usr/bin/env node
import { builtIns } from "../../plugins/registry.ts";
import { failureOf } from "./failure.ts";
import { USAGE, UsageError } from "./usage.ts";

/** Runs one command and returns its exit code. Each command's module is loaded only when it is called. */
async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case "start":
      return (await import("./start.ts")).start(rest, builtIns);
    case "check":
      return (await import("./check.ts")).check(rest, builtIns);
    case "status":
      return (await import("./status.ts")).status(rest);
    case "explain":
      return (await import("./explain.ts")).explain(rest);
    case "mock":
      return (await import("./mock.ts")).mock(rest);
    case "simulate":
      return (await import("./simulate.ts")).simulate(rest, builtIns);
    case undefined:
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(USAGE);
      return command === undefined ? 2 : 0;
    default:
      throw new UsageError(`There is no command "${command}"; "signalbox --help" lists them.`);
  }
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
