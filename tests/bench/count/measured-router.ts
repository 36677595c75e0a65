import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { root } from "../proxies.ts";
import type { Answers } from "./counting-process.ts";

/** A router in a process of its own, which counts what it does. */
export interface MeasuredRouter {
  readonly port: number;
  /** How many requests it has written into its log. */
  readonly logged: number;
  tell<Order extends keyof Answers>(order: Order): Promise<Answers[Order]>;
  stop(): Promise<void>;
}

const PROGRAM = join(root, "apps", "cli", "signalbox.mjs");
const COUNTER = join(import.meta.dirname, "counting-process.ts");
/** With them V8 does the same each time: its chance has a seed, a function is compiled when it is due, each object is counted. */
const SWITCHES = ["--random-seed=1", "--no-concurrent-recompilation", "--sampling-heap-profiler-suppress-randomness"];
const START_MS = 60_000;

/** Starts the program as a user does who names the replicas, and resolves once it listens. */
export async function startMeasuredRouter(urls: readonly string[]): Promise<MeasuredRouter> {
  const { PATH, TMPDIR } = process.env;
  const child = fork(PROGRAM, ["start", "--port", "0", "--admin-port", "0", ...urls], {
    cwd: root,
    // Not what others set for this process: NODE_OPTIONS, NODE_V8_COVERAGE.
    env: { PATH, ...(TMPDIR && { TMPDIR }) },
    execArgv: [...SWITCHES, "--import", "tsx", "--import", COUNTER],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const exited = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  let logged = 0;
  const port = await listeningPort(child);
  child.stdout?.on("data", (chunk: Buffer) => {
    logged += linesIn(chunk);
  });
  return {
    port,
    get logged() {
      return logged;
    },
    tell<Order extends keyof Answers>(order: Order) {
      return new Promise<Answers[Order]>((resolve, reject) => {
        const fail = () => reject(new Error("The measured router ended early."));
        child.once("exit", fail);
        child.once("message", (answer) => {
          child.off("exit", fail);
          resolve(answer as Answers[Order]);
        });
        child.send(order);
      });
    },
    stop() {
      child.kill("SIGKILL");
      return exited;
    },
  };
}

function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf("\n"); at >= 0; at = chunk.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Both outputs are read to their end, so that no pipe fills up. */
function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const fail = () => reject(new Error(`The measured router did not start:\n${printed}`));
    const limit = setTimeout(() => child.kill("SIGKILL"), START_MS);
    child.once("exit", fail);
    const read = (chunk: Buffer) => {
      if (printed.length < 10_000) printed += chunk.toString();
      const port = /listening on http:\/\/[^ ]+:(\d+)/.exec(printed)?.[1];
      if (port === undefined) return;
      clearTimeout(limit);
      child.off("exit", fail);
      resolve(Number(port));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}
