import { readdirSync, statSync } from "node:fs";
import { openFileLimit } from "./open-file-limit.ts";

const FOLDER = "/proc/self/fd";

/**
 * What this process uses now; NaN for what can't be read. The heap is what the runtime counts as such: V8's on Node and Deno;
 * JavaScriptCore's on Bun, which tells no difference between its size and what of it is in use.
 */
export function processUsage() {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal } = process.memoryUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    heapBytes: heapTotal,
    openFiles: openFiles(),
    maxOpenFiles: openFileLimit(),
  };
}

/** Newer kernels say the number as the folder's size; older ones must list thousands of names. */
function openFiles(): number {
  try {
    return statSync(FOLDER).size || readdirSync(FOLDER).length;
  } catch {
    return Number.NaN;
  }
}
