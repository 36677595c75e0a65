import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { readInput } from "../../apps/cli/frame/command.ts";
import { runProgram } from "../../apps/cli/program.ts";
import { ADMIN } from "../../apps/cli/switches.ts";
import type { Input } from "../../config/command.ts";
import { builtIns } from "../../plugins/registry.ts";
import { programOnThisRuntime } from "./own-runtime.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");
const children = new Set<ChildProcess>();

export interface Running {
  readonly child: ChildProcess;
  readonly output: { out: string; err: string };
  /** Its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Starts the program on the runtime that runs this test. */
export function signalbox(...argv: string[]): Running {
  return signalboxWith({}, ...argv);
}

/** The same with more environment variables. */
export function signalboxWith(env: Readonly<Record<string, string>>, ...argv: string[]): Running {
  const { command, args } = programOnThisRuntime();
  return followed(
    spawn(command, [...args, ...argv], { cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } }),
  );
}

/** The same with a text on its standard input. */
export function signalboxReading(text: string, ...argv: string[]): Running {
  const { command, args } = programOnThisRuntime();
  const child = spawn(command, [...args, ...argv], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(text);
  return followed(child);
}

function followed(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Running {
  children.add(child);
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.err += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return { child, output, ended };
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end, as a process. */
export async function runProcess(...argv: string[]): Promise<Ended> {
  const { output, ended } = signalbox(...argv);
  return { code: await ended, ...output };
}

/** Runs a command to its end in this process, which spares the start of another one: for what neither starts nor draws anything. */
export async function run(...argv: string[]): Promise<Ended> {
  const output = { out: "", err: "" };
  const code = await outputs.run(output, () => runProgram(argv, builtIns));
  return { code, ...output };
}

/** Where what a command writes goes, for as long as it runs; the test runner's own lines go where they always do. */
const outputs = new AsyncLocalStorage<{ out: string; err: string }>();

for (const [stream, which] of [
  [process.stdout, "out"],
  [process.stderr, "err"],
] as const) {
  const write = stream.write.bind(stream);
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    const output = outputs.getStore();
    if (output === undefined) return (write as (...args: unknown[]) => boolean)(chunk, ...rest);
    output[which] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    return true;
  };
}

/** Waits until it is true, at most 15 seconds. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (let waited = 0; !isTrue() && waited < 15_000; waited += 20) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(isTrue());
}

/** Ends what still runs of the programs that were started here. */
export function killAll(): void {
  for (const child of children) child.kill("SIGKILL");
}

/** The command line of a command that asks an admin port. */
export function adminInput(url: string, ...more: readonly string[]): Input {
  return readInput(["--admin", url, ...more], { name: "status", switches: ADMIN });
}
