import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Import, importsOf } from "../source-graph.ts";
import { ROOT } from "./runtimes.ts";

/** Modules in which the runtimes were never seen to differ as tests use them. */
const SAME_EVERYWHERE = new Set(["node:test", "node:assert/strict", "node:path", "node:url", "node:crypto"]);
/** Rooms of the source that touch the runtime. */
const RUNTIME_ROOMS = ["core/wire/", "core/server/", "core/runtime/", "core/fetch/", "apps/fetch.ts"];
const PROCESSES = ["node:child_process", "node:worker_threads", "node:cluster"];
/** Reading files of the checkout is no dependence; writing and watching files is. */
const READS_FILES = /^import \{ ((?:(?:readFileSync|readdirSync|existsSync|statSync|globSync),? ?)+)\} from "node:fs";$/m;

/** Why what this test file tests may depend on the runtime: what it imports, or that something it imports starts a process. */
export function dependences(file: string): string[] {
  const direct = importsOf(file)
    .filter(({ isOfTypes }) => !isOfTypes)
    .filter((each) => isOfRuntime(each, readFileSync(join(ROOT, file), "utf8")))
    .map(({ target }) => `imports ${target}`);
  const starter = startsProcess(file);
  return starter === undefined ? direct : [...direct, `starts a process by ${starter}`];
}

function isOfRuntime({ target }: Import, text: string): boolean {
  if (target === "node:fs") return !READS_FILES.test(text);
  if (target.startsWith("node:")) return !SAME_EVERYWHERE.has(target);
  return RUNTIME_ROOMS.some((room) => target.startsWith(room));
}

/** The file among this one and the tests' own files that it imports, of which one starts processes. */
function startsProcess(entry: string): string | undefined {
  const seen = new Set([entry]);
  for (const file of seen) {
    for (const { target, isOfTypes } of importsOf(file)) {
      if (isOfTypes) continue;
      if (PROCESSES.includes(target)) return file;
      if (target.startsWith("tests/") && existsSync(join(ROOT, target))) seen.add(target);
    }
  }
  return undefined;
}
