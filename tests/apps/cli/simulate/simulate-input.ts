import { readInput } from "../../../../apps/cli/frame/command.ts";
import { SIMULATE } from "../../../../apps/cli/simulate/command.ts";
import { simulateArguments } from "../../../../apps/cli/simulate/simulate-arguments.ts";

/** What `signalbox simulate` makes of these words. */
export const simulateArgumentsOf = (argv: readonly string[]) =>
  simulateArguments(readInput(argv, { name: "simulate", switches: SIMULATE.switches }));
