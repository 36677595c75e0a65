import { totalmem } from "node:os";
import { textOf } from "./read-text.ts";

/** More of a router's memory than this is not given to requests by itself. */
const MOST_BYTES = 2 ** 30;

/** What requests may hold together where the config does not say: a quarter of the memory there is, at most 1 GiB. */
export function defaultMemoryBytes(): number {
  return shareOf(Math.min(totalmem(), containerLimit(textOf)));
}

export function shareOf(memoryBytes: number): number {
  return Math.min(MOST_BYTES, Math.floor(memoryBytes / 4));
}

/**
 * The least memory limit of the control groups that this process is in; Infinity without one. Control groups have two versions,
 * each with a file for the limit in every group. A container often sees its own group as the root.
 */
export function containerLimit(read: (path: string) => string): number {
  const limits = [Number.POSITIVE_INFINITY];
  for (const line of read("/proc/self/cgroup").split("\n")) {
    const [, controllers, group] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || group === undefined) continue;
    if (controllers === "") limits.push(...limitsAbove("/sys/fs/cgroup", group, "memory.max", read));
    else if (controllers.split(",").includes("memory"))
      limits.push(...limitsAbove("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", read));
  }
  return Math.min(...limits);
}

/** The limits of a group and of all that it lies in. A file that is missing, or that says "max", sets none. */
function limitsAbove(root: string, group: string, file: string, read: (path: string) => string): number[] {
  const names = group.split("/").filter((name) => name !== "");
  return Array.from({ length: names.length + 1 }, (_, depth) => [root, ...names.slice(0, depth), file].join("/"))
    .map((path) => read(path).trim())
    .filter((text) => /^\d+$/.test(text))
    .map(Number);
}
