/**
 * What tests left behind: files in their temporary folder, and processes, found from outside when the process of the tests has ended. Sockets
 * and timers keep that process from ending on Node, which files.ts tells; Deno and Bun end all the same.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Says to whom a process belongs that a test started: a variable that it inherits, and that /proc shows. */
const RUN = "SIGNALBOX_TEST_RUN";
const FILE = "SIGNALBOX_TEST_FILE";
/** Loaders of TypeScript keep what they compile in the temporary folder, for all processes. */
const SHARED = `tsx-${process.getuid?.() ?? "user"}`;
const shared = join(tmpdir(), SHARED);

/** From here on, what this process makes belongs to this test file: its temporary folder and the processes that it starts. */
export function own(file: string, folder: string): void {
  process.env["TMPDIR"] = folder;
  process.env[FILE] = file;
}

/** The environment of a process whose tests' processes are told from others by `run`. */
export function marked(run: string): Record<string, string> {
  return { [RUN]: run };
}

/** A temporary folder for each of so many test files, below this one. Names are short: paths of Unix sockets have an end. */
export function makeFolders(base: string, count: number): void {
  mkdirSync(shared, { recursive: true });
  for (let index = 0; index < count; index++) {
    mkdirSync(folderOf(base, index));
    symlinkSync(shared, join(folderOf(base, index), SHARED));
  }
}

export function folderOf(base: string, index: number): string {
  return join(base, `${index}`);
}

/** A sentence for each test file that left files behind. */
export function leftFiles(base: string, files: readonly string[]): string[] {
  return files.flatMap((file, index) => {
    const names = readdirSync(folderOf(base, index)).filter((name) => name !== SHARED);
    return names.length === 0 ? [] : [`${file} left in its temporary folder: ${names.join(", ")}`];
  });
}

export interface LeftProcess {
  readonly pid: number;
  readonly text: string;
}

/** The processes that tests of this run started and that still run; none where there is no /proc. */
export function leftProcesses(run: string): LeftProcess[] {
  return numbersIn("/proc").flatMap((pid) => {
    const environment = readOr(`/proc/${pid}/environ`).split("\0");
    if (!environment.includes(`${RUN}=${run}`) || isZombie(pid)) return [];
    const file = environment.find((entry) => entry.startsWith(`${FILE}=`))?.slice(FILE.length + 1) ?? "a test";
    const command = readOr(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 200);
    return [{ pid, text: `${file} left a process behind: ${command}` }];
  });
}

/** It has ended, and only its parent has not asked yet. */
function isZombie(pid: number): boolean {
  return /^\d+ \(.*\) Z/s.test(readOr(`/proc/${pid}/stat`));
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
