import { readdirSync, readFileSync } from "node:fs";

/** /proc counts in ticks of 1/100 s wherever the finer counter is missing. */
const MICROS_PER_TICK = 10_000;

/** A process and everything it started, as /proc knows it now. */
export function processTree(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? Number(statFields(name)?.[1]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (let next = 0; next < tree.length; next++) tree.push(...(children.get(tree[next]!) ?? []));
  return tree;
}

/** CPU time, user and system, that each process had used at some moment, in microseconds. */
export type CpuMoment = ReadonlyMap<number, number>;

export function cpuNow(pids: readonly number[]): CpuMoment {
  return new Map(pids.map((pid) => [pid, usedMicros(pid)]));
}

/** What they have used since then; a process that has ended since counts for nothing. */
export function cpuMicrosSince(moment: CpuMoment): number {
  let micros = 0;
  for (const [pid, before] of moment) micros += Math.max(0, usedMicros(pid) - before);
  return micros;
}

/** Resident memory of these processes, in bytes. */
export function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? "");
    return sum + Number(resident?.[1] ?? 0) * 1024;
  }, 0);
}

const usedMicros = (pid: number) => threadsMicros(pid) ?? ticksMicros(pid);

/** The scheduler's own count, in nanoseconds: a short run needs better than ticks. */
function threadsMicros(pid: number): number | undefined {
  let nanos = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const used = read(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ")[0];
      if (used === undefined) return undefined;
      nanos += Number(used);
    }
  } catch {
    return undefined;
  }
  return nanos / 1000;
}

function ticksMicros(pid: number): number {
  const fields = statFields(String(pid));
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}

/** The fields of /proc/PID/stat from the third on; the second may hold spaces. */
function statFields(pid: string): readonly string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process or thread has ended.
    return undefined;
  }
}
