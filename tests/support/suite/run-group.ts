import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { leftFiles, leftProcesses, makeFolders, marked } from "./leftovers.ts";
import { failedTests, fileSeconds, passedTests } from "./report.ts";
import { ROOT, type Runtime } from "./runtimes.ts";

/** For one process; on an idle machine most take a tenth of it. */
const LIMIT_MS = 10 * 60_000;
/** After it, for the report of what failed before one file did not end. */
const REPORT_MS = 10_000;
/** For processes that were told to end to do so. */
const ENDING_MS = 10_000;
const LOOK_MS = 50;
const COMPILED = join(ROOT, "node_modules", ".cache", "signalbox-tests");

export interface GroupResult {
  readonly runtime: string;
  /** It ended well, ran at least one test, and left no process behind. Files that it left are only named: Bun ends before some are gone. */
  readonly isGood: boolean;
  readonly passed: number;
  /** At least 1 where it is not good. */
  readonly failed: number;
  readonly output: string;
  /** From the beginning to the end of its process. */
  readonly seconds: number;
  readonly fileSeconds: ReadonlyMap<string, number>;
}

/** Runs files in one process of a runtime, and ends it when it does not end by itself. As a sample, tests/support/sample.ts shortens some. */
export async function runGroup(runtime: Runtime, files: readonly string[], isSample: boolean): Promise<GroupResult> {
  const folder = mkdtempSync(join(tmpdir(), "sb-"));
  const run = basename(folder);
  const times = join(folder, "times");
  makeFolders(folder, files.length);
  const startedMs = performance.now();
  const { code, output } = await finished(runtime.command, runtime.args, {
    ...process.env,
    ...marked(run),
    // A test of this file runs in a process whose runner would have the other one report to it in its own format.
    NODE_TEST_CONTEXT: undefined,
    SIGNALBOX_SAMPLE: isSample ? "1" : "0",
    SIGNALBOX_TEST_FILES: files.join(" "),
    SIGNALBOX_TEST_TIMES: times,
    SIGNALBOX_TEST_FOLDERS: folder,
    // Newer Nodes keep what they compile, also for the processes that tests start.
    NODE_COMPILE_CACHE: COMPILED,
  });
  const processes = await endProcesses(run);
  const left = [...processes, ...leftFiles(folder, files)];
  // Without the tests that only say which file comes.
  const passed = passedTests(output) - files.length - 1;
  const isGood = code === 0 && passed > 0 && processes.length === 0;
  const result: GroupResult = {
    runtime: runtime.name,
    isGood,
    passed,
    failed: isGood ? 0 : Math.max(1, failedTests(output)),
    output: [output, ...left.map((line) => `LEFT BEHIND: ${line}`)].join("\n"),
    seconds: (performance.now() - startedMs) / 1000,
    fileSeconds: fileSeconds(written(times)),
  };
  rmSync(folder, { recursive: true });
  return result;
}

/** Processes that tests left behind, after a moment for those that are ending. They are ended here. */
async function endProcesses(run: string): Promise<string[]> {
  const untilMs = performance.now() + ENDING_MS;
  let left = leftProcesses(run);
  while (left.length > 0 && performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    left = leftProcesses(run);
  }
  for (const { pid } of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
  return left.map(({ text }) => text);
}

function finished(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
      });
    }
    child.on("error", (error) => {
      output += `${error.message}\n`;
    });
    const limit = setTimeout(() => {
      output += `\nEnded after ${LIMIT_MS / 60_000} minutes.\n`;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), REPORT_MS).unref();
    }, LIMIT_MS);
    child.on("close", (code) => resolve({ code, output }));
    child.on("exit", (code) => {
      clearTimeout(limit);
      // A process that a test left behind may keep the output open.
      setTimeout(() => resolve({ code, output }), ENDING_MS).unref();
    });
  });
}

/** What files.ts wrote; nothing where it was ended before. */
function written(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
