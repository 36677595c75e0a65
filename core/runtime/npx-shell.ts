import { readFileSync } from "node:fs";
import { setInterval } from "node:timers";

const LOOK_MS = 500;
/** npx begins a shell, the shell "deno task" or "bun run", and these the program. */
const MOST_BETWEEN = 3;

/**
 * Calls `ended` when the shell ends in which npx has begun this program, by way of `deno task` or `bun run` or without. Told to stop,
 * npx stops that shell alone, and what the shell has begun would run on. Does nothing without npx or /proc.
 */
export function whenNpxShellEnds(ended: () => void): void {
  if (!isBelowNpx()) return;
  const timer = setInterval(() => {
    if (isBelowNpx()) return;
    clearInterval(timer);
    ended();
  }, LOOK_MS);
  timer.unref();
}

/** Whether npx is above this process. A process whose parent has ended gets another one. */
function isBelowNpx(): boolean {
  try {
    let pid = "self";
    for (let level = 0; level <= MOST_BETWEEN; level++) {
      pid = processOf(pid).parent;
      if (processOf(pid).name.startsWith("npm exec")) return true;
    }
  } catch {
    // No /proc, or a process has just ended.
  }
  return false;
}

/** Of /proc/PID/stat the second field, the name, in parentheses, and the fourth (proc(5)). */
function processOf(pid: string): { readonly name: string; readonly parent: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const nameEnd = stat.lastIndexOf(")");
  return { name: stat.slice(stat.indexOf("(") + 1, nameEnd), parent: stat.slice(nameEnd + 2).split(" ")[1]! };
}
