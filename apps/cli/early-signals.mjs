import { closeSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";

/** Whether the command runs a router. */
export const isRouter = ["start", "epp", "dev"].includes(process.argv[2] ?? "");

// Before anything else is loaded: a router that is told to start must not die of a signal, nor open a debugger (SIGUSR1). Its log
// tells of these signals once it is there (apps/cli/start/signals.ts).
if (isRouter) for (const signal of ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});

/** Inputs and outputs that were a terminal at the start. */
const terminals = [0, 1, 2].filter((each) => isatty(each));

/** Whether the program began at a terminal that is closed now: the system answers for it as for no terminal. */
export const isTerminalGone = () => terminals.length > 0 && !terminals.some((each) => isatty(each));

// Node sets its terminals back when it ends. Node 20 aborts where one is gone; what is closed it leaves alone.
const isNode = !("deno" in process.versions || "bun" in process.versions);
if (isRouter && isNode)
  process.on("exit", () => {
    if (isTerminalGone()) for (const each of terminals) closeSync(each);
  });

/**
 * Whether SIGUSR1 may open a debugger whoever listens for the signal. Deno does that, and has no flag against it; so the system is
 * told to throw the signal away.
 */
export const isDebuggerReachable = "deno" in process.versions && !isSignalThrownAway();

/** @typedef {(number: number, handler: unknown) => unknown} SignalCall */
/** @typedef {{ symbols: { signal: SignalCall } }} Library */
/**
 * @typedef {{
 *   build: { os: string },
 *   permissions: { querySync(one: { name: "ffi" }): { state: string } },
 *   dlopen(path: string, symbols: object): Library,
 *   UnsafePointer: { create(value: bigint): unknown },
 * }} DenoCalls
 */

function isSignalThrownAway() {
  const { Deno } = /** @type {{ Deno: DenoCalls }} */ (/** @type {unknown} */ (globalThis));
  const library = { linux: "libc.so.6", darwin: "libSystem.B.dylib" }[Deno.build.os];
  // Asked first, since a call without permission would ask the person at the terminal.
  if (library === undefined || Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return false;
  try {
    // Deno registers its own handler half a second after its start, unless the signal has one; that one is then replaced for good.
    process.on("SIGUSR1", () => {});
    const { symbols } = Deno.dlopen(library, { signal: { parameters: ["i32", "pointer"], result: "pointer" } });
    const SIG_IGN = Deno.UnsafePointer.create(1n);
    symbols.signal(constants.signals.SIGUSR1, SIG_IGN);
    return true;
  } catch {
    return false;
  }
}
