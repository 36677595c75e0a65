/**
 * Runs every `*.vllm.ts` here, or with the word `bench` every `*.bench.ts`, against the real vLLM that SIGNALBOX_VLLM names; says so
 * loudly when there is none. Benches compare times, which on a busy machine may fail.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { passes, passesInTheEnd } from "../support/one-by-one.ts";
import { vllmDir } from "../support/real-vllm.ts";

/** For one file: two servers start, answer and stop in a tenth of this. */
const LIMIT_MS = 20 * 60_000;
const TESTS = ".vllm.ts";

const here = import.meta.dirname ?? ".";
const ending = process.argv[2] === "bench" ? ".bench.ts" : TESTS;
const files = readdirSync(here)
  .filter((name) => name.endsWith(ending))
  .sort();

if (vllmDir() !== undefined) {
  let isAllGood = files.length > 0;
  const run = ending === TESTS ? passesInTheEnd : passes;
  for (const file of files) isAllGood = (await run({ path: join(here, file), limitMs: LIMIT_MS })) && isAllGood;
  process.exitCode = isAllGood ? 0 : 1;
} else if (process.env["SIGNALBOX_VLLM"]) {
  console.error("SIGNALBOX_VLLM names a folder without venv/bin/vllm: correct it, or unset it to skip these tests.");
  process.exitCode = 1;
} else {
  console.log(
    "SKIPPED: no real vLLM was tested. Set SIGNALBOX_VLLM to a folder with venv/bin/vllm and model/ (see CONTRIBUTING.md).",
  );
}
