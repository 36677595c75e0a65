import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "./runtimes.ts";

/** What is computed here comes from data alone, by JavaScript that all runtimes share. A folder that is not named here runs everywhere. */
export const PURE: readonly string[] = [
  ...["tests/bench/", "tests/soak/", "tests/ci.test.ts", "tests/layout.test.ts", "tests/run.test.ts", "tests/wasm.test.ts"],
  ...["plugins/needs", "read/documents", "read/problems", "read/references", "rewrites/", "router/beside"].map(config),
  ...["schema/", "show/"].map(config),
  ...["tests/config/endpoint-picker/", "tests/examples/policies.test.ts", "tests/examples/policy-scores.test.ts"],
  ...["tests/examples/documents.test.ts", "tests/examples/troubleshooting.test.ts"],
  ...["contract/", "control/", "decide/", "pool/", "report/", "request/", "state/"].map(core),
  ...["cli/commands/split-test", "cli/commands/top", "cli/explain/", "cli/simulate/", "lab/engine/", "lab/simulate/"].map(app),
  "tests/plugins/features/rollouts/guard-config",
];

function config(name: string): string {
  return `tests/config/${name}`;
}

function app(name: string): string {
  return `tests/apps/${name}`;
}

function core(name: string): string {
  return `tests/core/${name}`;
}

/**
 * What one runtime is enough for: a browser runs the page, whose files tests/apps/admin/ asks for everywhere; the package is built once,
 * and its tests start all runtimes themselves; a compiler reads the source without a feature. The commands of the documents are in tests of their own.
 */
export const ONCE: readonly string[] = [
  ...[
    "tests/e2e/page.test.ts",
    "tests/package/",
    "tests/examples/document-commands.test.ts",
    "tests/plugins/features/deleted.test.ts",
  ],
];

/** One of so many pure files runs on every runtime. */
const SAMPLE_OF = 5;

/** Of the files, those that every runtime runs: what depends on the runtime, and a sample of the others that only their names decide. */
export function onEveryRuntime(files: readonly string[]): string[] {
  return files.filter((file) => !isRunOnce(file) && (!isPure(file) || isInSample(file)));
}

export function isRunOnce(file: string): boolean {
  return ONCE.some((start) => file.startsWith(start));
}

export function isPure(file: string): boolean {
  return PURE.some((start) => file.startsWith(start));
}

function isInSample(file: string): boolean {
  return createHash("sha256").update(file).digest().readUInt32BE() % SAMPLE_OF === 0;
}

/** Those that take longest, slowest first; each begins early, by itself. */
export const LONGEST: readonly string[] = [
  ...["tests/e2e/page.test.ts", "tests/e2e/log-output.test.ts", "tests/e2e/guarded-rollout.test.ts", "tests/e2e/aborts.test.ts"],
  ...["tests/apps/cli/main.test.ts", "tests/apps/lab/simulate/anchors.test.ts", "tests/e2e/one-of-four.test.ts"],
  ...["tests/e2e/top.test.ts", "tests/e2e/traces.test.ts"],
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
