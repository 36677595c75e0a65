import type { Input } from "../../../config/command.ts";
import { exit } from "../../../core/runtime/stray-exit.ts";
import { takeConsole } from "../../../core/runtime/take-console.ts";
import { tuneRuntime } from "../../../core/runtime/tune-runtime.ts";
import { startWatchdog, type Watchdog } from "../../../core/runtime/watchdog.ts";
import { failureOf } from "../frame/usage.ts";
import { logUncaught } from "./last-resort.ts";
import type { Outputs } from "./outputs.ts";
import { ignoreSignals, type ReloadSignal, reloadSignal } from "./signals.ts";

/** How long the program waits at its end for the readers of its outputs. */
const LAST_LINES_MS = 1_000;

/** What a program is that goes on until a signal. */
export interface Program {
  readonly input: Input;
  readonly outputs: Outputs;
  readonly reloads: ReloadSignal;
  readonly watchdog: Watchdog;
}

/** Runs what goes on until a signal, whatever becomes of the outputs. Returns the exit code; why it failed is on the standard error. */
export async function inProgram(
  outputs: Outputs,
  input: Input,
  stuckMs: number,
  run: (program: Program) => Promise<number>,
): Promise<number> {
  tuneRuntime();
  takeConsole(outputs.tell, outputs.printError);
  ignoreSignals(outputs.log);
  const reloads = reloadSignal();
  logUncaught(outputs.log);
  const watchdog = startWatchdog(stuckMs);
  const code = await run({ input, outputs, reloads, watchdog }).catch((thrown: unknown) => {
    const failure = failureOf(thrown);
    outputs.printError(input.asCalled(failure.text));
    return failure.code;
  });
  await watchdog.stop();
  // A write that nobody reads would keep the process from ending by itself.
  if (!(await outputs.flush(LAST_LINES_MS))) exit(code);
  return code;
}
