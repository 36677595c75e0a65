import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { RUN_ONCE } from "./run-once.ts";
import { ROOT, type Runtime } from "./runtimes.ts";

/** Which files run on which runtimes: those that a change needs, all on all, or what is left of all behind what a change needs. */
export type Extent = "usual" | "all" | "rest";

/** What one runtime runs. */
export interface Job {
  readonly runtime: Runtime;
  readonly files: readonly string[];
}

/** True if the file says by its name that what it tests depends on the runtime. */
export function isForEachRuntime(file: string): boolean {
  return file.endsWith(".runtimes.test.ts");
}

/** The files that each runtime runs. The first of the runtimes is the Node that runs everything; other Nodes take part in `all` only. */
export function jobsOf(extent: Extent, runtimes: readonly Runtime[], files: readonly string[]): Job[] {
  const [first] = runtimes;
  return runtimes.map((runtime) => {
    const isFirst = runtime === first;
    const isUsual = (file: string) => isFirst || (isForEachRuntime(file) && !runtime.name.startsWith("node"));
    const isInAll = (file: string) => isFirst || !isRunOnce(file);
    const isChosen = { usual: isUsual, all: isInAll, rest: (file: string) => isInAll(file) && !isUsual(file) }[extent];
    return { runtime, files: files.filter(isChosen) };
  });
}

/** True if further runtimes would add nothing even to a full run: the file starts them itself, or runs nothing of the router. */
function isRunOnce(file: string): boolean {
  return RUN_ONCE.some(({ place }) => file.startsWith(place));
}

/** Those that take longest, slowest first; each begins early, by itself. */
export const LONGEST: readonly string[] = [
  ...["tests/e2e/page.test.ts", "tests/e2e/log-output.runtimes.test.ts", "tests/e2e/guarded-rollout.runtimes.test.ts"],
  ...["tests/e2e/aborts.runtimes.test.ts", "tests/apps/cli/main.runtimes.test.ts", "tests/apps/lab/simulate/anchors.test.ts"],
  ...[
    "tests/bench/count/costs.test.ts",
    "tests/e2e/one-of-four.test.ts",
    "tests/e2e/top.runtimes.test.ts",
    "tests/e2e/traces.runtimes.test.ts",
  ],
];

/** What these share is made once: the built package, an API server. They take long, so they begin first. */
const TOGETHER: readonly string[] = ["tests/package/", "tests/kubernetes/"];

const SLOW: readonly string[] = ["tests/e2e/", "tests/epp/", "tests/examples/"];

/** Together in one process, so that its start is paid once, yet the last process does not run long alone. */
const FILES_PER_PROCESS = 60;
/** Most of these wait on sockets and other processes. */
const SLOW_FILES_PER_PROCESS = 12;

/** The files in groups for a process each, in the order in which they begin: what takes longest first. */
export function groups(files: readonly string[]): string[][] {
  const alone = LONGEST.filter((file) => files.includes(file));
  const together = TOGETHER.map((start) => files.filter((file) => file.startsWith(start))).filter(({ length }) => length > 0);
  const others = files.filter((file) => !alone.includes(file) && !together.flat().includes(file));
  const isSlow = (file: string) => SLOW.some((start) => file.startsWith(start));
  return [
    ...together,
    ...alone.map((file) => [file]),
    ...sliced(others.filter(isSlow), SLOW_FILES_PER_PROCESS),
    ...sliced(
      others.filter((file) => !isSlow(file)),
      FILES_PER_PROCESS,
    ),
  ];
}

function sliced(files: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(files.length / size) }, (_, index) => files.slice(index * size, (index + 1) * size));
}

/** The test files in a folder of the project, or the file itself; relative to its root. */
export function testFiles(place: string): string[] {
  const path = join(ROOT, place);
  if (statSync(path).isFile()) return [relative(ROOT, path)];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => relative(ROOT, join(path, name)))
    .sort();
}
