import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Runtime = "node" | "deno" | "bun";

/** The real program on one runtime, with what it printed about each request. */
export interface SoakRouter {
  readonly url: string;
  readonly port: number;
  /** Attempts by request id, from the access log. */
  readonly requests: ReadonlyMap<string, LoggedRequest>;
  /** What it wrote to its standard error, as far as it is kept. */
  readonly errors: string;
  readonly residentBytes: number;
  readonly openFiles: number;
  /** The sum over all endpoints of a gauge in /metrics. */
  gaugeSum(name: string): Promise<number>;
  /** Resolves to its exit code. */
  stop(): Promise<number | null>;
}

interface LoggedRequest {
  readonly status: number;
  readonly error: string;
  readonly ending: string;
  readonly atMs: number;
  readonly durationMs: number;
  readonly attempts: readonly { readonly endpoint: string; readonly result: number | string }[];
}

const root = join(import.meta.dirname ?? ".", "..", "..");
const BIN = join(root, "node_modules", ".bin");
const MAIN = join(root, "core", "cli", "main.ts");
const START_MS = 30_000;
const MOST_ERRORS = 20_000;

const COMMANDS: Readonly<Record<Runtime, readonly string[]>> = {
  node: [process.execPath, "--import", "tsx", MAIN],
  deno: [join(BIN, "deno"), "run", "-A", "--no-check", "--quiet", "--no-lock", MAIN],
  bun: [join(BIN, "bun"), "run", MAIN],
};

/** Resolves once it listens and has probed its replicas. */
export async function startSoakRouter(runtime: Runtime, urls: readonly string[]): Promise<SoakRouter> {
  const [command = "", ...args] = COMMANDS[runtime];
  const child = spawn(command, [...args, "start", "--port", "0", "--admin-port", "0", ...urls], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const requests = new Map<string, LoggedRequest>();
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (errors.length < MOST_ERRORS) errors += chunk.toString();
  });
  const { port, adminUrl } = await readLog(child, requests);
  const exited = new Promise<number | null>((resolve) => void child.once("exit", resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get errors() {
      return errors;
    },
    get residentBytes() {
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024;
    },
    get openFiles() {
      return readdirSync(`/proc/${child.pid}/fd`).length;
    },
    async gaugeSum(name) {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      return [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "gm"))].reduce(
        (sum, [, value]) => sum + Number(value),
        0,
      );
    },
    stop() {
      process.kill(child.pid!, "SIGTERM");
      return exited;
    },
  };
}

/** Reads the first lines for the addresses, then one line per request. */
function readLog(child: ChildProcess, requests: Map<string, LoggedRequest>): Promise<{ port: number; adminUrl: string }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error("The router did not start in time"));
    }, START_MS);
    child.once("exit", (code) => reject(new Error(`The router ended with code ${code}`)));
    let rest = "";
    let port = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("{")) keep(line, requests);
        port ||= Number(/listening on http:\/\/[^ ]+:(\d+)/.exec(line)?.[1] ?? 0);
        const adminUrl = /Status page: (http:\/\/[^/]+)/.exec(line)?.[1];
        if (adminUrl === undefined) continue;
        clearTimeout(timer);
        resolve({ port, adminUrl });
      }
    });
  });
}

function keep(line: string, requests: Map<string, LoggedRequest>): void {
  const { id, time, ...request } = JSON.parse(line) as LoggedRequest & { readonly id: string; readonly time: string };
  requests.set(id, { ...request, atMs: Date.parse(time) });
}
