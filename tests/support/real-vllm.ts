import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** What startVllm serves: a base model and two adapters, as `vllmNames` says. */
export interface VllmOptions {
  /** A folder with venv/bin/vllm, model/ and model/lora/NAME for each adapter. */
  readonly dir: string;
  readonly port: number;
  /** Serves /v1/embeddings instead of generation. */
  readonly isEmbedding?: boolean;
  /** Lists no adapter at first: each one in this folder is loaded when it is first asked for. */
  readonly adapterFolder?: string;
  /** More flags for `vllm serve`. */
  readonly flags?: readonly string[];
  /** One of a pair whose caches move by NIXL: the port where the other one asks for blocks. */
  readonly sideChannelPort?: number;
  /** It keeps responses, so that they can be read by their ids and continued. */
  readonly keepsResponses?: boolean;
}

export interface RealVllm {
  readonly url: string;
  readonly pid: number;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends the server; fulfilled when its process is gone. */
  stop(): Promise<void>;
}

const BASE = "tiny";
const ADAPTERS = ["food-review-v1", "food-review-v2"];
const START_LIMIT_MS = 400_000;
const STOP_LIMIT_MS = 20_000;
/** Output kept to explain a failed start. */
const LOG_CHARS = 4000;

/** One thread and a small cache on the CPU, and no call to anywhere. */
const ENVIRONMENT = {
  VLLM_CPU_KVCACHE_SPACE: "1",
  OMP_NUM_THREADS: "1",
  VLLM_CPU_OMP_THREADS_BIND: "nobind",
  HF_HUB_OFFLINE: "1",
  TRANSFORMERS_OFFLINE: "1",
  VLLM_NO_USAGE_STATS: "1",
  DO_NOT_TRACK: "1",
  VLLM_ALLOW_RUNTIME_LORA_UPDATING: "true",
  // Python runs this folder's sitecustomize.py first.
  PYTHONPATH: join(import.meta.dirname ?? ".", "vllm-patch"),
};

const STORE = { VLLM_ENABLE_RESPONSES_API_STORE: "1" };

/** The folder of a real vLLM, named by SIGNALBOX_VLLM; undefined where there is none. */
export function vllmDir(): string | undefined {
  const dir = process.env["SIGNALBOX_VLLM"];
  return dir && existsSync(join(dir, "venv", "bin", "vllm")) ? dir : undefined;
}

/** The model names a server from startVllm answers to, and a path to load one more adapter from. */
export function vllmNames(dir: string, isEmbedding = false) {
  if (isEmbedding) return { base: BASE, adapters: [] };
  return { base: BASE, adapters: ADAPTERS, adapterPath: adapterPath(dir, "food-review-v1") };
}

/** Starts a real vLLM on the loopback and waits until it serves, which takes about half a minute. */
export async function startVllm(options: VllmOptions): Promise<RealVllm> {
  const { dir, port, adapterFolder, sideChannelPort, keepsResponses } = options;
  const more = { ...(adapterFolder && resolverOf(adapterFolder)), ...channelOf(sideChannelPort), ...(keepsResponses && STORE) };
  const child = spawn(join(dir, "venv", "bin", "vllm"), argumentsOf(options), {
    env: { ...process.env, ...ENVIRONMENT, ...more },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that what the server leaves behind when it is killed can be ended with it.
    detached: true,
  });
  let log = "";
  const keep = (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-LOG_CHARS);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(url, child);
  } catch (error) {
    await stopChild(child);
    throw new Error(`vLLM did not start: ${error instanceof Error ? error.message : ""}\n${log}`, { cause: error });
  }
  return { url, pid: child.pid ?? 0, stop: () => stopChild(child), kill: () => stopChild(child, "SIGKILL") };
}

/** Whether the folder's vLLM can move caches between servers. */
export function hasNixl(dir: string): boolean {
  return spawnSync(join(dir, "venv", "bin", "python3"), ["-c", "import nixl"], { stdio: "ignore" }).status === 0;
}

const channelOf = (port: number | undefined) =>
  port === undefined ? {} : { VLLM_NIXL_SIDE_CHANNEL_HOST: "127.0.0.1", VLLM_NIXL_SIDE_CHANNEL_PORT: String(port) };

const TRANSFER = JSON.stringify({ kv_connector: "NixlConnector", kv_role: "kv_both", kv_buffer_device: "cpu" });

const resolverOf = (folder: string) => ({
  VLLM_PLUGINS: "lora_filesystem_resolver",
  VLLM_LORA_RESOLVER_CACHE_DIR: folder,
});

function argumentsOf({ dir, port, isEmbedding, adapterFolder, sideChannelPort, flags = [] }: VllmOptions): string[] {
  const model = join(dir, "model");
  const common = ["serve", model, "--served-model-name", BASE, "--host", "127.0.0.1", "--port", String(port)];
  const size = ["--enforce-eager", "--max-model-len", "4096", "--max-num-seqs", "16"];
  if (isEmbedding) return [...common, ...size, "--runner", "pooling", "--convert", "embed", ...flags];
  const answers = ["--enable-scale-out", "--enable-prompt-tokens-details", "--enable-request-id-headers"];
  if (sideChannelPort !== undefined)
    return [...common, ...size, "--block-size", "32", ...answers, "--kv-transfer-config", TRANSFER, ...flags];
  const adapters = ["--lora-modules", ...ADAPTERS.map((name) => `${name}=${adapterPath(dir, name)}`)];
  const lora = ["--enable-lora", "--max-loras", "2", "--max-lora-rank", "8", ...(adapterFolder ? [] : adapters)];
  return [...common, ...size, "--block-size", "32", ...answers, ...lora, ...flags];
}

const adapterPath = (dir: string, name: string) => join(dir, "model", "lora", name);

const hasExited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const endMs = performance.now() + START_LIMIT_MS;
  while (performance.now() < endMs) {
    if (hasExited(child)) throw new Error(`it exited with ${child.exitCode ?? child.signalCode}`);
    const answer = await fetch(`${url}/v1/models`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`it did not answer within ${START_LIMIT_MS / 1000} s`);
}

async function stopChild(child: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  if (!hasExited(child)) await ended(child, signal);
  endGroup(child);
  // Whoever still holds the other ends must not keep this process waiting.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function ended(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  return new Promise((resolve) => {
    const hurry = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    child.once("exit", () => {
      clearTimeout(hurry);
      resolve();
    });
    child.kill(signal);
  });
}

/** Ends the server's own children (its engine, its resource tracker); there are none left after an orderly stop. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
