import { builtIns } from "../../plugins/registry.ts";
import { endWithReader } from "./closed-output.ts";
import { isRouter } from "./early-signals.mjs";
import { endSoon } from "./end-soon.ts";
import { runProgram } from "./program.ts";

if (!isRouter) endWithReader();
void runProgram(process.argv.slice(2), builtIns).then((code) => {
  process.exitCode = code;
  endSoon(code);
});
