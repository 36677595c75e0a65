/** Runs a client as a process of its own, which knows nothing of this machine but where the router is. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { KEY, MODEL, STACKS } from "./stack.ts";

/** An agent that starts cold on a busy machine, whose prompt the real vLLM computes on one core, takes a fifth of this. */
const LIMIT_MS = 100_000;

export interface ClientRun {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from its standard input. */
  readonly input?: string;
  /** Where it runs; by default an empty folder. */
  readonly cwd?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Declares the tests of a client, which gets the folder that install.sh has filled; or one that says why it is skipped. */
export function withClients(name: string, declare: (dir: string) => void): void {
  const dir = process.env["SIGNALBOX_CLIENTS"];
  if (!dir || !process.env[STACKS]) test(name, (t) => t.skip("SIGNALBOX_CLIENTS=DIR npm run test:clients runs it"));
  else declare(dir);
}

/** A program of npm's in the folder of clients. */
export const binOf = (dir: string, name: string) => join(dir, "node", "node_modules", ".bin", name);

/** What is there now, to be cleared away when this process is asked to end. */
const homes = new Set<string>();
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const group of groups) endGroup(group);
  for (const home of homes) removeHome(home);
  process.exit(1);
});

/** Makes a folder for a client's files, hands it to `use`, and removes it. */
export async function inHome<T>(use: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), "signalbox-client-"));
  homes.add(home);
  try {
    for (const name of ["work", "tmp"]) mkdirSync(join(home, name));
    return await use(home);
  } finally {
    removeHome(home);
  }
}

function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  homes.delete(home);
}

/** Runs it to its end with a home of its own, where all of its state goes. */
export function runClient(home: string, { command, env, input = "", cwd }: ClientRun): Promise<Ended> {
  const [program = "", ...words] = command;
  const child = spawn(program, words, {
    cwd: cwd ?? join(home, "work"),
    env: { ...environmentOf(home), ...env },
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own, so that what it starts can be ended with it.
    detached: true,
  });
  const group = child.pid ?? 0;
  groups.add(group);
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.err += text;
  });
  // A client that reads nothing may have gone.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => endGroup(group), LIMIT_MS);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(limit);
      endGroup(group);
      resolve({ code, ...output });
    });
  });
}

/** What a program of `programs/` prints: JSON. It gets the router's address, a key and the model in its environment. */
export async function runProgram<T>(dir: string, file: string, baseUrl: string): Promise<T> {
  const env = { BASE_URL: baseUrl, API_KEY: KEY, MODEL };
  const path = join(import.meta.dirname ?? ".", "programs", file);
  const { code, out, err } = await inHome((home) => runClient(home, { ...programRun(dir, path), env }));
  if (code !== 0) throw new Error(`${file} ended with ${code}:\n${err.slice(-3000)}\n${out.slice(-1000)}`);
  return JSON.parse(out) as T;
}

/** Packages are looked for from the folder where a program runs that Node reads from its standard input. */
function programRun(dir: string, path: string): ClientRun {
  if (path.endsWith(".py")) return { command: [join(dir, "python", "bin", "python"), path] };
  const command = [binOf(dir, "node"), "--input-type=module", "-"];
  return { command, input: readFileSync(path, "utf8"), cwd: join(dir, "node") };
}

function environmentOf(home: string): Record<string, string> {
  const { PATH = "", http_proxy = "", https_proxy = "", no_proxy = "" } = process.env;
  const proxies = http_proxy === "" ? {} : { http_proxy, https_proxy, no_proxy };
  return {
    ...{ PATH, HOME: home, TMPDIR: join(home, "tmp"), LANG: "C.UTF-8" },
    ...{ XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "data") },
    ...{ XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache") },
    ...proxies,
  };
}

function endGroup(group: number): void {
  groups.delete(group);
  if (group === 0) return;
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
