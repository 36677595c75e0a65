/**
 * Runs every `*.clients.ts` here, or those whose names begin with the words given, with the clients that SIGNALBOX_CLIENTS names. All of
 * it runs in a network namespace that has nothing but a loopback. With SIGNALBOX_VLLM, a real vLLM is started there once for all files.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { passes, passesInTwo } from "../support/one-by-one.ts";
import { startVllm, vllmDir } from "../support/real-vllm.ts";

/** For one file: its slowest client, agents on the real vLLM, takes a tenth of this. */
const LIMIT_MS = 10 * 60_000;
const VLLM_PORT = 8171;
const INSIDE = "SIGNALBOX_CLIENTS_INSIDE";

/** Agents' prompts have up to 20,000 tokens, and the model's texts have no end of their own. */
const VLLM_FLAGS = [
  ...["--max-model-len", "65536", "--hf-overrides", '{"max_position_embeddings":65536}'],
  ...["--override-generation-config", '{"max_new_tokens":96,"temperature":0}'],
  ...["--enable-auto-tool-choice", "--tool-call-parser", "hermes"],
];

/** Whoever listens to no namespace is sent to a port where nothing is. */
const NOWHERE = { http_proxy: "http://127.0.0.1:9", https_proxy: "http://127.0.0.1:9", no_proxy: "127.0.0.1,localhost" };

const dir = process.env["SIGNALBOX_CLIENTS"];
if (!dir) {
  console.log("SKIPPED: no client was tested. Set SIGNALBOX_CLIENTS to a folder that tests/clients/install.sh has filled.");
} else if (!existsSync(join(dir, "complete"))) {
  console.error("SIGNALBOX_CLIENTS names a folder that is not complete: run `bash tests/clients/install.sh DIR`, or unset it.");
  process.exitCode = 1;
} else if (process.env[INSIDE] !== undefined) process.exitCode = await runFiles();
else process.exitCode = runWithoutWayOut();

/** Runs this file once more where only the loopback is; where that is not permitted, says so and goes on behind a proxy that is not there. */
function runWithoutWayOut(): number {
  const setUp = ["unshare", "-rn", "/bin/sh", "-c", 'ip link set lo up && exec "$0" "$@"'] as const;
  const isPermitted = spawnSync(setUp[0], [...setUp.slice(1), "true"]).status === 0;
  if (!isPermitted)
    console.log(
      "WARNING: no network namespace can be made here (unshare, ip), so clients are only sent to a proxy that is not there.",
    );
  const node = [process.execPath, "--import", "tsx", process.argv[1] ?? "", ...process.argv.slice(2)];
  const [program = "", ...words] = isPermitted ? [...setUp, ...node] : node;
  const env = { ...process.env, ...(isPermitted ? { [INSIDE]: "namespace" } : { [INSIDE]: "proxy", ...NOWHERE }) };
  return spawnSync(program, words, { stdio: "inherit", env }).status ?? 1;
}

async function runFiles(): Promise<number> {
  const here = import.meta.dirname ?? ".";
  const wanted = process.argv.slice(2);
  const files = readdirSync(here)
    .filter((name) => name.endsWith(".clients.ts") && (wanted.length === 0 || wanted.some((word) => name.startsWith(word))))
    .sort();
  if (files.length === 0) console.error(`No file here begins with ${wanted.join(" or ")}.`);
  const model = vllmDir();
  if (model === undefined) console.log("SKIPPED: the clients with a real vLLM. SIGNALBOX_VLLM names none.");
  const vllm = model === undefined ? undefined : await startVllm({ dir: model, port: VLLM_PORT, flags: VLLM_FLAGS });
  let isAllGood = files.length > 0;
  try {
    for (const file of files) {
      const one = { path: join(here, file), limitMs: LIMIT_MS, env: { SIGNALBOX_CLIENTS_VLLM: vllm?.url ?? "" } };
      isAllGood = (await (vllm ? passesInTwo(one) : passes(one))) && isAllGood;
    }
  } finally {
    await vllm?.stop();
  }
  return isAllGood ? 0 : 1;
}
