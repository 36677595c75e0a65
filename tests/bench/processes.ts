import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { selfSigned } from "../support/certificates.ts";
import { ClientConnection } from "./client-connection.ts";
import type { Target } from "./client-socket.ts";
import type { Job, ResultOf } from "./load.ts";
import { processTree } from "./process-cpu.ts";
import { CERT_FILE, type Contender, KEY_FILE, root } from "./proxies.ts";
import { chatMessage, type Pace } from "./traffic.ts";

/** A proxy, or nothing at all ("direct"), ready to take traffic. */
export interface Subject extends Target {
  readonly name: string;
  /** The proxy and everything it started; empty for "direct". */
  readonly pids: readonly number[];
}

export interface Upstream {
  readonly ports: readonly number[];
  setPace(pace: Pace): void;
}

export interface Driver {
  run<J extends Job>(job: J): Promise<ResultOf<J>>;
}

const READY_MS = 30_000;
const STOP_MS = 4_000;
const LONGEST_JOB_MS = 60_000;
const LOG_LINES = 6;

/** The same for all proxies: an EC key, curve P-256. */
const certificate = selfSigned({ names: ["127.0.0.1"] });
const running = new Set<ChildProcess>();
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
process.once("exit", () => {
  for (const child of running) kill(treeOf(child), "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

export async function startUpstream(): Promise<Upstream> {
  const child = fork(join(import.meta.dirname, "upstream.ts"), { serialization: "json" });
  watch(child);
  const ports = await message<readonly number[]>(child, READY_MS);
  return { ports, setPace: (pace) => void child.send(pace) };
}

export function startDriver(): Driver {
  const child = fork(join(import.meta.dirname, "load.ts"), { serialization: "advanced" });
  watch(child);
  return {
    async run<J extends Job>(job: J) {
      child.send(job);
      const response = await message<{ readonly result: ResultOf<J>; readonly error?: string }>(child, LONGEST_JOB_MS);
      if (response.error !== undefined) throw new Error(response.error);
      return response.result;
    },
  };
}

/** Starts the proxy and waits until it answers a request; throws with the end of its output when it does not. */
export async function startProxy(proxy: Contender, upstreamPorts: readonly number[], isTls = false): Promise<Subject> {
  const [port, sidePort] = (await freePorts(2)) as [number, number];
  const place = { port, sidePort, upstreamPorts, isTls, folder: join(folder, `${proxy.name}-${port}`) };
  const { command, args, files, env } = proxy.launch(place);
  mkdirSync(place.folder);
  const { cert, key } = certificate;
  for (const [name, content] of Object.entries({ ...files, [CERT_FILE]: cert, [KEY_FILE]: key }))
    writeFileSync(join(place.folder, name), content);
  const path = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin`;
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: path, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  watch(child);
  let log = "";
  const keep = (bytes: unknown) => {
    log = (log + String(bytes)).split("\n").slice(-LOG_LINES).join("\n");
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const endMs = performance.now() + READY_MS;
  while (!(await answers({ port, isTls }))) {
    const isGone = child.exitCode !== null || child.pid === undefined;
    if (!isGone && performance.now() < endMs) continue;
    await stop(child);
    throw new Error(`${proxy.name} ${isGone ? "ended" : "did not answer in time"}. Its last output:\n${log.trim()}`);
  }
  return { name: proxy.name, port, isTls, pids: processTree(child.pid!) };
}

/** Ends a subject's processes, by force when they take too long. */
export async function stopSubject({ pids }: Subject): Promise<void> {
  const child = [...running].find(({ pid }) => pid === pids[0]);
  if (child !== undefined) await stop(child);
}

async function stop(child: ChildProcess): Promise<void> {
  const pids = treeOf(child);
  child.kill("SIGTERM");
  const endMs = performance.now() + STOP_MS;
  while (running.has(child) && performance.now() < endMs) await sleep(20);
  kill(pids, "SIGKILL");
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

function watch(child: ChildProcess): void {
  running.add(child);
  const gone = () => void running.delete(child);
  child.once("exit", gone);
  child.once("error", gone);
}

const treeOf = ({ pid }: ChildProcess) => (pid === undefined ? [] : processTree(pid));

function kill(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended already.
    }
  }
}

/** The child's next message. */
function message<Message>(child: ChildProcess, timeoutMs: number): Promise<Message> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      child.off("message", onMessage);
      child.off("exit", onExit);
      settle();
    };
    const onMessage = (value: unknown) => finish(() => resolve(value as Message));
    const onExit = () => finish(() => reject(new Error("A process of the bench ended early; its output is above.")));
    const timer = setTimeout(() => finish(() => reject(new Error("A process of the bench took too long."))), timeoutMs);
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}

/** Whether a chat request is answered with 200. */
async function answers(target: Target): Promise<boolean> {
  const connection = new ClientConnection(target);
  const status = await Promise.race([
    new Promise<number>((resolve) => connection.send(chatMessage({ bytes: 1024, conversation: 0 }).bytes, resolve)),
    sleep(2_000, 0),
  ]);
  connection.close();
  if (status !== 200) await sleep(100);
  return status === 200;
}

/** Ports that nothing listens on now, below those that connections out take. */
async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count && tries < 200; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  if (ports.length < count) throw new Error("Found no free ports between 20000 and 32000.");
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
