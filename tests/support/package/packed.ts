import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { ROOT } from "../suite/runtimes.ts";
import { startLocalRegistry } from "./local-registry.ts";

const MODULES = join(ROOT, "node_modules");

/** A folder of its own, in which all is made and which goes at the end. */
const place = mkdtempSync(join(tmpdir(), "signalbox-package-"));
/** The package as npm gets it: what `npm test` has built, or made now. */
export const built = process.env["SIGNALBOX_BUILT"] ?? join(place, "package");
if (process.env["SIGNALBOX_BUILT"] === undefined)
  execFileSync(process.execPath, ["--import", "tsx", "tests/support/package/build.ts", built], { cwd: ROOT });
const { components } = JSON.parse(readFileSync(join(built, "sbom.cdx.json"), "utf8")) as { components: { name: string }[] };
/** What is installed with the package. */
export const partNames: readonly string[] = components.map(({ name }) => name);
const registry = await startLocalRegistry([built, ...partNames.map((name) => join(MODULES, name))], place);
const groups = new Set<number>();
after(async () => {
  for (const group of groups) process.kill(-group, "SIGKILL");
  await registry.close();
  rmSync(place, { recursive: true, force: true });
});

/** What npm would get, as `npm pack` tells it. */
export const packed = registry.packages[0]!;

/** A new folder of this name, with nothing in it. */
export function newFolder(name: string): string {
  const path = join(place, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** The programs of a machine that has one runtime, and of what every Unix has only what that calls. */
const PROGRAMS = {
  node: { node: process.execPath, npm: "npm", npx: "npx", sh: "/bin/sh" },
  deno: { deno: join(MODULES, "deno", "deno"), env: "env" },
  bun: { bun: join(MODULES, "bun", "bin", "bun.exe"), bunx: join(MODULES, "bun", "bin", "bunx.exe") },
} as const;

export type Machine = keyof typeof PROGRAMS;
export const MACHINES = Object.keys(PROGRAMS) as readonly Machine[];

/** The environment on such a machine: an empty home, and this registry. */
function environmentOf(machine: Machine) {
  const tools = newFolder(`tools-${machine}`);
  if (readdirSync(tools).length === 0)
    for (const [name, program] of Object.entries(PROGRAMS[machine])) symlinkSync(pathOf(program), join(tools, name));
  return {
    PATH: tools,
    HOME: newFolder(`home-${machine}`),
    npm_config_registry: registry.url,
    NPM_CONFIG_REGISTRY: registry.url,
  };
}

function pathOf(program: string): string {
  return program.includes("/") ? program : execFileSync("which", [program], { encoding: "utf8" }).trim();
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line of such a machine in a folder, to its end. */
export function runOn(machine: Machine, cwd: string, line: string): Promise<Ended> {
  const env = environmentOf(machine);
  const [command = "", ...words] = line.split(" ");
  return new Promise((settle) => {
    execFile(resolve(env.PATH, command), words, { cwd, env, timeout: 60_000 }, (error, out, err) => {
      settle({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
    });
  });
}

interface Started {
  /** Where clients connect. */
  readonly url: string;
  /** Ends it, and resolves once nothing of it holds its outputs. npx itself dies of the signal. */
  stop(): Promise<void>;
}

/** Starts a router by a command line of such a machine. Rejects with what it said if it ends, or does not listen within a minute. */
export async function startOn(machine: Machine, cwd: string, line: string): Promise<Started> {
  const env = environmentOf(machine);
  const [command = "", ...words] = line.split(" ");
  const child = spawn(resolve(env.PATH, command), [...words, "--port", "0", "--admin-port", "0"], {
    ...{ cwd, env },
    // In a process group of its own, so that what npx starts can be ended too.
    detached: true,
  });
  const { pid = 0 } = child;
  groups.add(pid);
  const ended = new Promise<void>((settle) => {
    child.once("close", () => {
      groups.delete(pid);
      settle();
    });
  });
  let said = "";
  const url = await new Promise<string>((settle, reject) => {
    const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
        const [, found] = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? [];
        if (found === undefined) return;
        clearTimeout(limit);
        settle(found);
      });
    child.once("close", () => {
      clearTimeout(limit);
      reject(new Error(`${line}: ${said}`));
    });
  });
  return {
    url,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

let installing: Promise<string> | undefined;

/** A folder in which `npm install signalbox` was run, once for all tests. */
export function installed(): Promise<string> {
  installing ??= install();
  return installing;
}

async function install(): Promise<string> {
  const app = newFolder("app");
  writeFileSync(join(app, "package.json"), '{ "private": true }');
  const { code, err } = await runOn("node", app, "npm install --no-audit --no-fund signalbox");
  if (code !== 0) throw new Error(err);
  return app;
}

/** The program in a folder where the package is installed, as the runtimes start it. */
export function programIn(app: string): string {
  return join(app, "node_modules", "signalbox", "apps", "cli", "bin.mjs");
}
