import { builtIns } from "../../plugins/registry.ts";
import { endSoon } from "./end-soon.ts";
import { runProgram } from "./program.ts";

void runProgram(process.argv.slice(2), builtIns).then((code) => {
  process.exitCode = code;
  endSoon(code);
});
