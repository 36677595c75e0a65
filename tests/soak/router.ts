import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Status } from "../../apps/admin/status.ts";
import { writeSoakConfig } from "./config.ts";
import type { Memory } from "./memory-page.ts";

export const RUNTIMES = ["node", "deno", "bun"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** The real program on one runtime, with what it logged. */
export interface SoakRouter {
  readonly port: number;
  /** Requests that did not end well, by id, from the access log. */
  readonly failures: ReadonlyMap<string, LoggedRequest>;
  /** Lines of the operator's log about errors that no code caught: not even a plugin's fault may be one. */
  readonly uncaught: readonly string[];
  /** Undefined while it runs; then why it ended. */
  readonly ended: string | undefined;
  /** Open file descriptors. */
  readonly openFiles: number;
  status(): Promise<Status>;
  memory(): Promise<Memory>;
  /** Resolves to its exit code. */
  stop(): Promise<number | null>;
}

export interface LoggedRequest {
  readonly status: number;
  readonly error: string;
  readonly ending: string;
  readonly atMs: number;
  readonly durationMs: number;
  readonly attempts: readonly { readonly endpoint: string; readonly result: number | string }[];
}

const root = join(import.meta.dirname ?? ".", "..", "..");
const BIN = join(root, "node_modules", ".bin");
const MAIN = join(root, "apps", "cli", "main.ts");
const START_MS = 60_000;
const MOST_LINES = 20;
const UNCAUGHT = /that no code (caught|handled)/;

const COMMANDS: Readonly<Record<Runtime, readonly string[]>> = {
  node: [process.execPath, "--expose-gc", "--import", "tsx", MAIN],
  deno: [join(BIN, "deno"), "run", "-A", "--no-check", "--quiet", "--no-lock", "--v8-flags=--expose-gc", MAIN],
  bun: [join(BIN, "bun"), "run", MAIN],
};

/** Resolves once it listens and has probed its replicas. */
export async function startSoakRouter(runtime: Runtime, urls: readonly string[]): Promise<SoakRouter> {
  const [command = "", ...args] = COMMANDS[runtime];
  const config = writeSoakConfig(urls);
  const child = spawn(command, [...args, "start", "--port", "0", "--admin-port", "0", "-f", config], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => {
    rmSync(dirname(config), { recursive: true });
    child.kill("SIGKILL");
  };
  process.once("exit", kill);
  let ended: string | undefined;
  const exited = new Promise<number | null>((resolve) =>
    child.once("exit", (code, signal) => {
      process.off("exit", kill);
      rmSync(dirname(config), { recursive: true });
      ended = `ended with ${signal ?? `code ${code}`}`;
      resolve(code);
    }),
  );
  const failures = new Map<string, LoggedRequest>();
  const uncaught: string[] = [];
  onLines(child.stderr, (line) => {
    if (UNCAUGHT.test(line) && uncaught.length < MOST_LINES) uncaught.push(line);
  });
  const { port, adminUrl } = await readLog(child, failures);
  const page = async (path: string) => (await fetch(`${adminUrl}${path}`)).json();
  return {
    port,
    failures,
    uncaught,
    get ended() {
      return ended;
    },
    get openFiles() {
      return readdirSync(`/proc/${child.pid}/fd`).length;
    },
    status: async () => (await page("/status")) as Status,
    memory: async () => (await page("/memory")) as Memory,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

/** Reads the first lines for the addresses, then one line per request. Rejects when the program ends before. */
function readLog(child: ChildProcess, failures: Map<string, LoggedRequest>): Promise<{ port: number; adminUrl: string }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error("The router did not start in time"));
    }, START_MS);
    child.once("exit", (code) => reject(new Error(`The router ended with code ${code}`)));
    let port = 0;
    onLines(child.stdout, (line) => keepFailure(line, failures));
    onLines(child.stderr, (line) => {
      port ||= Number(/listening on http:\/\/[^ ]+:(\d+)/.exec(line)?.[1] ?? 0);
      const adminUrl = /Status page: (http:\/\/[^/]+)/.exec(line)?.[1];
      if (adminUrl === undefined) return;
      clearTimeout(timer);
      resolve({ port, adminUrl });
    });
  });
}

function keepFailure(line: string, failures: Map<string, LoggedRequest>): void {
  const { id, time, ...request } = JSON.parse(line) as LoggedRequest & { readonly id: string; readonly time: string };
  const isWell = request.ending === "client-left" || (request.ending === "complete" && request.status === 200);
  if (!isWell) failures.set(id, { ...request, atMs: Date.parse(time) });
}

function onLines(output: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  let rest = "";
  output?.setEncoding("utf8");
  output?.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}
