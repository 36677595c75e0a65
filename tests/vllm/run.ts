/** Runs every `*.vllm.ts` here against the real vLLM that SIGNALBOX_VLLM names; says so loudly when there is none. */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { vllmDir } from "../support/real-vllm.ts";

/** For one file: two servers start, answer and stop in a tenth of this. */
const LIMIT_MS = 20 * 60_000;

const here = import.meta.dirname ?? ".";

function run(file: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", "--test", "--test-reporter", "spec", join(here, file)], {
      stdio: "inherit",
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve(code ?? 1);
    });
  });
}

if (vllmDir() === undefined) {
  console.log(
    "SKIPPED: no real vLLM was tested. Set SIGNALBOX_VLLM to a folder with venv/bin/vllm and model/ (see CONTRIBUTING.md).",
  );
} else {
  for (const file of readdirSync(here)
    .filter((name) => name.endsWith(".vllm.ts"))
    .sort()) {
    process.exitCode = Math.max(Number(process.exitCode ?? 0), await run(file));
  }
}
