import { builtIns } from "../../plugins/registry.ts";
import { runProgram } from "./program.ts";

const LAST_WORK_MS = 5_000;

void runProgram(process.argv.slice(2), builtIns).then((code) => {
  process.exitCode = code;
  endSoon(code);
});

/** Also where a plugin's module has left a timer or a connection open: `check` would wait for it without end. */
function endSoon(code: number): void {
  const timer = setTimeout(() => (process.stdout.writableLength === 0 ? process.exit(code) : endSoon(code)), LAST_WORK_MS);
  timer.unref();
}
