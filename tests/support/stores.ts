import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";
import { Redis } from "ioredis";

/** Stores come from Debian's packages redis-server (or valkey-server) and nats-server; where they are absent, tests say so. */
const REDIS = ["valkey-server", "redis-server"].find(isThere);
const NATS = isThere("nats-server");
export const NO_REDIS = REDIS === undefined && "no Redis or Valkey is installed: routers that agree were NOT tested with one";
export const NO_NATS = !NATS && "no NATS server is installed: routers that agree were NOT tested with one";
for (const absent of [NO_REDIS, NO_NATS]) if (absent) console.error(`SKIPPED: ${absent}`);

/** A store of this test's own. */
export interface TestStore {
  readonly port: number;
  /** It takes connections and answers nothing until `goOn`. */
  freeze(): void;
  goOn(): void;
  /** Ends it; what it carried is lost. */
  stop(): Promise<void>;
  /** Starts it anew on the same port. */
  startAgain(): Promise<void>;
}

/** It ends itself after this, whatever became of the test. */
const LIFE_S = 170;
const START_MS = 20_000;

export const startRedis = () =>
  startStore((port) => [REDIS!, "--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);

export const startNats = () => startStore((port) => ["nats-server", "-a", "127.0.0.1", "-p", String(port)]);

/** Publishes messages as a stranger who may write into the store. */
export async function publishByRedis(port: number, channel: string, messages: readonly string[]): Promise<void> {
  const redis = new Redis(port, "127.0.0.1", { protocol: 2 });
  for (const message of messages) await redis.publish(channel, message);
  redis.disconnect();
}

async function startStore(commandOf: (port: number) => readonly string[]): Promise<TestStore> {
  const port = await freePort();
  const run = async () => {
    const child = spawn("timeout", ["--foreground", "--signal=KILL", String(LIFE_S), ...commandOf(port)], { stdio: "ignore" });
    await answering(port, child);
    return child;
  };
  let child = await run();
  const own = () => {
    const pid = Number(String(spawnSync("ps", ["-o", "pid=", "--ppid", String(child.pid)]).stdout).trim());
    // A signal to 0 would go to the test itself.
    if (!(pid > 0)) throw new Error("The store has ended");
    return pid;
  };
  return {
    port,
    freeze: () => void process.kill(own(), "SIGSTOP"),
    goOn: () => void process.kill(own(), "SIGCONT"),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      process.kill(own(), "SIGKILL");
      await ended;
    },
    async startAgain() {
      child = await run();
    },
  };
}

async function answering(port: number, child: ChildProcess): Promise<void> {
  for (const start = performance.now(); performance.now() - start < START_MS; ) {
    if (child.exitCode !== null) throw new Error("The store ended at once");
    if (await isOpen(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("The store does not take connections");
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => socket.destroy() && resolve(true));
    socket.once("error", () => resolve(false));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen({ port: 0, host: "127.0.0.1" }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

function isThere(program: string): boolean {
  return spawnSync("which", [program]).status === 0;
}
