/**
 * Runs every `*.clients.ts` here, or those whose names begin with the words given, with the clients that SIGNALBOX_CLIENTS names. All of
 * it runs in a network namespace that has nothing but a loopback. Replicas and routers are started there once for all files; with
 * SIGNALBOX_VLLM, a real vLLM is among them.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { passes, passesInTheEnd } from "../support/one-by-one.ts";
import { startVllm, vllmDir } from "../support/real-vllm.ts";
import { STACKS } from "./stack.ts";
import { startStacks } from "./start-stacks.ts";

/** For one file: its slowest client, agents on the real vLLM, takes a tenth of this. */
const LIMIT_MS = 10 * 60_000;
const VLLM_PORT = 8171;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const INSIDE = "SIGNALBOX_CLIENTS_INSIDE";

/** How a vLLM is started whose model takes agents' prompts of 20,000 tokens, calls tools as their schemas say, and ends its texts. */
function vllmFlags(generation: string): readonly string[] {
  // A random model seldom says that its text is over: the mark of the user's next turn ends it too.
  writeFileSync(join(generation, "generation_config.json"), JSON.stringify({ eos_token_id: [2, 3], max_new_tokens: 2048 }));
  return [
    ...["--max-model-len", "65536", "--hf-overrides", '{"max_position_embeddings":65536}', "--generation-config", generation],
    ...["--enable-auto-tool-choice", "--tool-call-parser", "pythonic"],
    // Where white space is allowed, a random model writes nothing else.
    ...["--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}'],
  ];
}

/** Whoever listens to no namespace is sent to a port where nothing is. */
const NOWHERE = { http_proxy: "http://127.0.0.1:9", https_proxy: "http://127.0.0.1:9", no_proxy: "127.0.0.1,localhost" };

/** What ends the things that were started here. */
const toEnd: (() => Promise<void>)[] = [];

const dir = process.env["SIGNALBOX_CLIENTS"];
if (!dir) {
  console.log("SKIPPED: no client was tested. Set SIGNALBOX_CLIENTS to a folder that tests/clients/install.sh has filled.");
} else if (!existsSync(join(dir, "complete"))) {
  console.error("SIGNALBOX_CLIENTS names a folder that is not complete: run `bash tests/clients/install.sh DIR`, or unset it.");
  process.exitCode = 1;
} else if (process.env[INSIDE] !== undefined) process.exitCode = await runFiles();
else runWithoutWayOut();

/** Runs this file once more where only the loopback is; where that is not permitted, says so and goes on behind a proxy that is not there. */
function runWithoutWayOut(): void {
  const setUp = ["unshare", "-rn", "/bin/sh", "-c", 'ip link set lo up && exec "$0" "$@"'] as const;
  const isPermitted = spawnSync(setUp[0], [...setUp.slice(1), "true"]).status === 0;
  if (!isPermitted)
    console.log(
      "WARNING: no network namespace can be made here (unshare, ip), so clients are only sent to a proxy that is not there.",
    );
  const node = [process.execPath, "--import", "tsx", process.argv[1] ?? "", ...process.argv.slice(2)];
  const [program = "", ...words] = isPermitted ? [...setUp, ...node] : node;
  const env = { ...process.env, ...(isPermitted ? { [INSIDE]: "namespace" } : { [INSIDE]: "proxy", ...NOWHERE }) };
  const child = spawn(program, words, { stdio: "inherit", env });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.once("close", (code) => {
    process.exitCode = code ?? 1;
  });
}

async function runFiles(): Promise<number> {
  const here = import.meta.dirname ?? ".";
  const wanted = process.argv.slice(2);
  const files = readdirSync(here)
    .filter((name) => name.endsWith(".clients.ts") && (wanted.length === 0 || wanted.some((word) => name.startsWith(word))))
    .sort();
  if (files.length === 0) console.error(`No file here begins with ${wanted.join(" or ")}.`);
  for (const signal of SIGNALS) process.once(signal, () => void endAll().finally(() => process.exit(1)));
  try {
    const url = await vllmUrl();
    const { places, close } = await startStacks(url);
    toEnd.push(close);
    let isAllGood = files.length > 0;
    for (const file of files) {
      const one = { path: join(here, file), limitMs: LIMIT_MS, env: { [STACKS]: JSON.stringify(places) } };
      isAllGood = (await (url ? passesInTheEnd(one) : passes(one))) && isAllGood;
    }
    return isAllGood ? 0 : 1;
  } finally {
    await endAll();
  }
}

/** Starts the real vLLM, if there is one: its address, or "". */
async function vllmUrl(): Promise<string> {
  const dir = vllmDir();
  if (dir === undefined) {
    console.log("SKIPPED: the clients with a real vLLM. SIGNALBOX_VLLM names none.");
    return "";
  }
  const generation = mkdtempSync(join(tmpdir(), "signalbox-vllm-"));
  toEnd.push(async () => rmSync(generation, { recursive: true, force: true }));
  const vllm = await startVllm({ dir, port: VLLM_PORT, flags: vllmFlags(generation) });
  toEnd.push(vllm.stop);
  return vllm.url;
}

/** What was started last ends first. */
async function endAll(): Promise<void> {
  for (let end = toEnd.pop(); end !== undefined; end = toEnd.pop()) await end();
}
