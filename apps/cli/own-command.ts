import { readFileSync } from "node:fs";
import { OWN_ROOT } from "../../core/runtime/own-files.ts";

/**
 * The words behind `process.execPath` that run this program once more, with the same switches of the runtime and the same words. Undefined
 * where that can't be known: Deno tells its own switches to nobody, and only Linux shows the whole command line.
 */
export function ownCommand(): readonly string[] | undefined {
  try {
    return readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(1, -1);
  } catch {
    const { argv, execArgv, versions } = process;
    if (OWN_ROOT === "") return argv.slice(2);
    return versions["deno"] === undefined ? [...execArgv, ...argv.slice(1)] : undefined;
  }
}
