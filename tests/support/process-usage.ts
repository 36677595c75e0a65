import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Open file descriptors of this process. */
export function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Bytes of JavaScript objects and buffers that are still held after the garbage has been collected. */
export async function heldBytes(): Promise<number> {
  const collect = collector();
  // What a finalizer lets go of is collected in the next round.
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Resident memory of this process in bytes. */
export function residentBytes(): number {
  return process.memoryUsage().rss;
}

function collector(): () => void {
  const { Bun } = globalThis as { Bun?: { gc(isSync: boolean): void } };
  if (Bun !== undefined) return () => Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
