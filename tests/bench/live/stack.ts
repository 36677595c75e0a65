import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RouterProcess, startRouterProcess } from "../../support/router-process.ts";
import { policyOf } from "./policy-config.ts";
import type { LoopDelay, ReplicasWanted } from "./replicas-process.ts";

/** Mock replicas and a router in front of them, each a process of its own, on loopback. */
export interface Stack {
  /** Of the config's file. */
  readonly name: string;
  readonly port: number;
  /** The config that the router runs. */
  readonly configFile: string;
  /** CPU time of the router since it was ready, in milliseconds. */
  routerCpuMs(): number;
  /** What the replicas counted, all together. */
  counters(): Promise<Counters>;
  /** How late the replicas' event loop was. */
  replicasLoop(): Promise<LoopDelay>;
  /** Ends both processes; resolves with what the router logged once they have ended. */
  stop(): Promise<RouterLogs>;
}

interface RouterLogs {
  readonly access: readonly LogLine[];
  /** Replicas that left service, with the reason: "127.0.0.1-8001: 3 failures in a row". */
  readonly incidents: readonly string[];
}

export interface Counters {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** From a request's body to its first token. */
  readonly firstTokenMeanMs: number;
}

/** The keys of an access log line that are read here. */
export interface LogLine {
  /** The code of the error that the router responded with, or "". */
  readonly error: string;
  /** What went wrong, as codes, or "". */
  readonly flags: string;
  readonly attempts: readonly { readonly endpoint: string; readonly result: number | string }[];
  readonly cachedTokens: number | null;
  readonly predictedCachedTokens: number | null;
}

const START_MS = 30_000;
const STOP_MS = 5_000;
const REPLICAS = join(import.meta.dirname, "replicas-process.ts");

/** `folder` is kept by the caller. Rejects when a process does not start. */
export async function startStack(config: string, wanted: ReplicasWanted, folder: string): Promise<Stack> {
  const replicas = fork(REPLICAS, { serialization: "json" });
  const endReplicas = () => void replicas.kill("SIGKILL");
  process.once("exit", endReplicas);
  try {
    const ports = await ask<readonly number[]>(replicas, wanted);
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);
    const { name, file } = policyOf(config, folder, urls);
    const log = logFile(join(folder, `${name}.log`));
    const router = await startRouterProcess([], { config: file, stdout: log, env: { NODE_ENV: "production" } });
    const endRouter = () => router.kill("SIGKILL");
    process.once("exit", endRouter);
    const stop = async () => {
      await end(router);
      endReplicas();
      process.off("exit", endReplicas).off("exit", endRouter);
      log.close();
      return { access: linesOf(readFileSync(log.path, "utf8")), incidents: incidentsIn(router.errors) };
    };
    const startCpuMs = router.cpuMs;
    let stopped: Promise<RouterLogs> | undefined;
    return {
      name,
      port: router.port,
      configFile: file,
      routerCpuMs: () => router.cpuMs - startCpuMs,
      counters: () => countersOf(urls),
      replicasLoop: () => ask<LoopDelay>(replicas, "loop"),
      stop: () => (stopped ??= stop()),
    };
  } catch (thrown) {
    endReplicas();
    throw thrown;
  }
}

async function end(router: RouterProcess): Promise<void> {
  router.kill("SIGTERM");
  await Promise.race([router.exited, sleep(STOP_MS)]);
  router.kill("SIGKILL");
  await router.exited;
}

/** Sends one message and resolves with the next one that comes back. */
function ask<Answer>(child: ChildProcess, message: ReplicasWanted | string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error("The replicas' process ended, or did not respond; its output is above."));
    const timer = setTimeout(failed, START_MS);
    child.once("exit", failed);
    child.once("message", (value) => {
      clearTimeout(timer);
      child.off("exit", failed);
      resolve(value as Answer);
    });
    child.send(message);
  });
}

async function countersOf(urls: readonly string[]): Promise<Counters> {
  const pages = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const sum = (name: string) =>
    pages.reduce((total, page) => total + Number(new RegExp(`^vllm:${name}\\{[^}]*\\} (.+)$`, "m").exec(page)?.[1] ?? 0), 0);
  return {
    promptTokens: sum("prefix_cache_queries_total"),
    cachedTokens: sum("prefix_cache_hits_total"),
    firstTokenMeanMs: (1000 * sum("time_to_first_token_seconds_sum")) / sum("time_to_first_token_seconds_count"),
  };
}

/** A file that the router writes its log to; each read goes on where the last one ended. */
function logFile(path: string) {
  closeSync(openSync(path, "w"));
  const file = openSync(path, "r");
  const buffer = Buffer.alloc(64 * 1024);
  return { path, read: () => buffer.toString("latin1", 0, readSync(file, buffer)), close: () => closeSync(file) };
}

function linesOf(log: string): readonly LogLine[] {
  return log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}

function incidentsIn(log: string): readonly string[] {
  return log
    .split("\n")
    .filter((line) => /^\{.*"message":"A replica (is ejected|stays ejected|is not ready any more)"/.test(line))
    .map((line) => JSON.parse(line) as { readonly endpoint: string; readonly why: string })
    .map(({ endpoint, why }) => `${endpoint}: ${why}`);
}
