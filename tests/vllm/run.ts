/**
 * Runs every `*.vllm.ts` here, or with the word `bench` every `*.bench.ts`, against the real vLLM that SIGNALBOX_VLLM names; says so
 * loudly when there is none. Benches compare times, which on a busy machine may fail.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { vllmDir } from "../support/real-vllm.ts";

/** For one file: two servers start, answer and stop in a tenth of this. */
const LIMIT_MS = 20 * 60_000;
const TESTS = ".vllm.ts";

const here = import.meta.dirname ?? ".";
const ending = process.argv[2] === "bench" ? ".bench.ts" : TESTS;
const files = readdirSync(here)
  .filter((name) => name.endsWith(ending))
  .sort();

/** Whether the file's tests passed, and there was at least one. */
function passes(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", "--test", "--test-reporter", "spec", join(here, file)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      process.stdout.write(chunk);
      output += chunk;
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    child.on("close", (code) => {
      clearTimeout(limit);
      const isGood = code === 0 && /ℹ pass [1-9]/.test(output);
      if (!isGood) console.log(`FAILED: ${file} ended with code ${code}`);
      resolve(isGood);
    });
  });
}

/** A file that failed passes when it is run once more: what a busy machine or a real server did is printed, and fails nothing. */
async function passesInTwo(file: string): Promise<boolean> {
  if (await passes(file)) return true;
  const isGood = ending === TESTS && (await passes(file));
  if (isGood) console.log(`UNSTEADY: ${file} failed once and passed when it was run again`);
  return isGood;
}

if (vllmDir() !== undefined) {
  let isAllGood = files.length > 0;
  for (const file of files) isAllGood = (await passesInTwo(file)) && isAllGood;
  process.exitCode = isAllGood ? 0 : 1;
} else if (process.env["SIGNALBOX_VLLM"]) {
  console.error("SIGNALBOX_VLLM names a folder without venv/bin/vllm: correct it, or unset it to skip these tests.");
  process.exitCode = 1;
} else {
  console.log(
    "SKIPPED: no real vLLM was tested. Set SIGNALBOX_VLLM to a folder with venv/bin/vllm and model/ (see CONTRIBUTING.md).",
  );
}
