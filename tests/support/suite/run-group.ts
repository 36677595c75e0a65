import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failedTests, fileSeconds, passedTests } from "./report.ts";
import { ROOT, type Runtime } from "./runtimes.ts";

/** For one process; on an idle machine most take a tenth of it. */
const LIMIT_MS = 10 * 60_000;
/** After it, for the report of what failed before one file did not end. */
const REPORT_MS = 10_000;
const COMPILED = join(ROOT, "node_modules", ".cache", "signalbox-tests");

export interface GroupResult {
  readonly runtime: string;
  /** It ended well and ran at least one test. */
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
  const folder = mkdtempSync(join(tmpdir(), "signalbox-tests-"));
  const times = join(folder, "times");
  const startedMs = performance.now();
  const { code, output } = await finished(runtime.command, runtime.args, {
    ...process.env,
    SIGNALBOX_SAMPLE: isSample ? "1" : "0",
    SIGNALBOX_TEST_FILES: files.join(" "),
    SIGNALBOX_TEST_TIMES: times,
    // Newer Nodes keep what they compile, also for the processes that tests start.
    NODE_COMPILE_CACHE: COMPILED,
  });
  // Without the tests that only say which file comes.
  const passed = passedTests(output) - files.length - 1;
  const isGood = code === 0 && passed > 0;
  const result: GroupResult = {
    runtime: runtime.name,
    isGood,
    passed,
    failed: isGood ? 0 : Math.max(1, failedTests(output)),
    output,
    seconds: (performance.now() - startedMs) / 1000,
    fileSeconds: fileSeconds(written(times)),
  };
  rmSync(folder, { recursive: true });
  return result;
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
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve({ code, output });
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
