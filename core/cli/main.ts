import { builtIns } from "../../plugins/registry.ts";
import { runProgram } from "./program.ts";

void runProgram(process.argv.slice(2), builtIns).then((code) => {
  process.exitCode = code;
});
