import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogReader } from "./log-reader.ts";
import { type CommandLine, onThisRuntime, programOnThisRuntime } from "./own-runtime.ts";

/** `signalbox start` as a process of its own, on the runtime that runs the test. */
export interface RouterProcess {
  readonly pid: number;
  readonly port: number;
  /** Of the admin port; 0 without one. */
  readonly adminPort: number;
  /** What it has written to both outputs, as far as that is kept. */
  readonly printed: string;
  /** Resident memory in bytes. */
  readonly residentBytes: number;
  /** CPU time that it has used so far, in milliseconds. */
  readonly cpuMs: number;
  kill(signal: NodeJS.Signals): void;
  /** What it has written to its standard error. */
  readonly errors: string;
  /** Stops reading one of its outputs, as a log collector that has died. */
  closeOutput(which: "stdout" | "stderr"): void;
  /** Its exit code, or the signal that ended it, and when that was. */
  readonly exited: Promise<{ readonly code: number | string; readonly atMs: number }>;
}

const START_MS = 60_000;
/** Characters of the standard error that are kept. */
const MOST_ERRORS = 100_000;

export interface RouterProcessOptions {
  /** Lines below `spec:`, indented by two. */
  readonly spec?: string;
  /** The port to listen on; by default any free one. */
  readonly port?: number;
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Most file descriptors the process may have. */
  readonly openFiles?: number;
  /** The value of `admin`; by default it is off. */
  readonly admin?: string;
  /** Reads its standard output instead of this process. */
  readonly stdout?: LogReader;
  /** Reads its standard error instead of this process. */
  readonly stderr?: LogReader;
  /** How the program runs, where that is not as the test does. */
  readonly run?: CommandLine;
  /** The file to run instead of the program's own. */
  readonly program?: string;
  /** Further words of its command line. */
  readonly words?: readonly string[];
  /** Opens the admin port. */
  readonly hasAdmin?: boolean;
  /** A config file or folder of the test's own, instead of `spec` and `admin`. */
  readonly config?: string;
}

/** Resolves once it listens and its replicas have been probed. */
export async function startRouterProcess(urls: readonly string[], options: RouterProcessOptions = {}): Promise<RouterProcess> {
  const { command, args } = options.run ?? (options.program ? onThisRuntime(options.program) : programOnThisRuntime());
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  const { config = join(folder, "signalbox.yaml") } = options;
  writeFileSync(
    join(folder, "signalbox.yaml"),
    `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: ${options.admin ?? "false"}\n${options.spec ?? ""}\n`,
  );
  const adminWords = options.hasAdmin ? ["--admin-port", "0"] : [];
  const words = [
    command,
    ...args,
    "start",
    "--port",
    String(options.port ?? 0),
    "-f",
    config,
    ...adminWords,
    ...(options.words ?? []),
    ...urls,
  ];
  const setUp = [
    ...(options.openFiles === undefined ? [] : [`ulimit -n ${options.openFiles} &&`]),
    `exec "$0" "$@"`,
    ...(options.stdout ? [`>"${options.stdout.path}"`] : []),
    ...(options.stderr ? [`2>"${options.stderr.path}"`] : []),
  ].join(" ");
  // The shell sets limits and outputs, and becomes the router.
  const [program = command, ...rest] = ["/bin/sh", "-c", setUp, ...words];
  const child = spawn(program, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
  });
  const exited = new Promise<{ code: number | string; atMs: number }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? signal ?? "", atMs: performance.now() }));
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (errors.length < MOST_ERRORS) errors += chunk.toString();
  });
  const output = { text: "" };
  // Not before: a router notices when its config is gone.
  void exited.then(() => rmSync(folder, { recursive: true, force: true }));
  const port = await listeningPort(child, output, options);
  return {
    pid: child.pid!,
    port,
    adminPort: Number(/Status page: https?:\/\/[^ ]+:(\d+)/.exec(output.text)?.[1] ?? 0),
    get printed() {
      return output.text;
    },
    get residentBytes() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    },
    get cpuMs() {
      return cpuMsOf(child.pid!);
    },
    get errors() {
      return errors;
    },
    closeOutput: (which) => child[which].destroy(),
    // Not child.kill, after which Deno takes every end for the signal's doing.
    kill(signal) {
      if (child.exitCode === null && child.signalCode === null) process.kill(child.pid!, signal);
    },
    exited,
  };
}

/** CPU time of a process: fields 14 and 15 of its stat line, in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Reads the first line of its log; what comes after is read and thrown away, so that no pipe fills up. */
function listeningPort(child: ChildProcess, output: { text: string }, { stderr }: RouterProcessOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const polling = stderr && setInterval(() => read(stderr.read()), 20);
    const fail = () => {
      clearInterval(polling);
      reject(new Error(`The router's process did not start:\n${output.text}`));
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail();
    }, START_MS);
    child.once("exit", fail);
    const read = (chunk: Buffer | string) => {
      if (output.text.length < 10_000) output.text += chunk.toString();
      const port = /listening on https?:\/\/[^ ]+:(\d+)/.exec(output.text)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      clearInterval(polling);
      resolve(Number(port));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}
