/**
 * How long one client or replica that sends what costs much work can hold up everybody else: `npm run bench:stalls -- --help`. While it
 * sends at full speed, another client asks for /health; the longest wait is printed, and how much CPU time the router had used in it,
 * which does not depend on what else the machine does.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ClientConnection } from "./client-connection.ts";
import { type Subject, startProxy, stopAll, stopSubject } from "./processes.ts";
import { contenders, isInstalled } from "./proxies.ts";
import type { Order } from "./stalls/attacker-process.ts";
import { CLIENT_ATTACKS, REPLICA_ATTACKS } from "./stalls/patterns.ts";
import { chatMessage } from "./traffic.ts";

const HELP = `Usage: npm run bench:stalls -- [options]

  --only A,B,...      only these runtimes
  --attacks A,B,...   only attacks whose names contain one of these
  --connections N     so many hostile clients at once (default 1)
  --seconds N         so long for each attack (default 3)
`;
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    attacks: { type: "string" },
    connections: { type: "string", default: "1" },
    seconds: { type: "string", default: "3" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const HEALTH = Buffer.from("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
const PAUSE_MS = 2;
const LONGEST_WAIT_MS = 20_000;

const attacker = fork(join(import.meta.dirname, "stalls", "attacker-process.ts"), { serialization: "json" });
const told = <Value>() => new Promise<Value>((resolve) => attacker.once("message", (value) => resolve(value as Value)));
const order = (what: Order) => void attacker.send(what);
const replicaPort = await told<number>();

/** CPU time of the process's first thread, which runs its event loop, in milliseconds. */
function loopCpuMs(pid: number): number {
  const used = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[0];
  return Number(used) / 1e6;
}

interface Worst {
  waitMs: number;
  cpuMs: number;
  asked: number;
}

async function probe(subject: Subject, forMs: number): Promise<Worst> {
  const pid = subject.pids[0]!;
  const connection = new ClientConnection(subject);
  const worst = { waitMs: 0, cpuMs: 0, asked: 0 };
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const [fromMs, fromCpuMs] = [performance.now(), loopCpuMs(pid)];
    await Promise.race([new Promise<number>((resolve) => connection.send(HEALTH, resolve)), sleep(LONGEST_WAIT_MS)]);
    worst.waitMs = Math.max(worst.waitMs, performance.now() - fromMs);
    worst.cpuMs = Math.max(worst.cpuMs, loopCpuMs(pid) - fromCpuMs);
    worst.asked += 1;
    await sleep(PAUSE_MS);
  }
  connection.close();
  return worst;
}

async function underAttack(subject: Subject, start: () => void): Promise<Worst & { megabytes: number }> {
  start();
  const worst = await probe(subject, Number(values.seconds) * 1_000);
  const sent = told<number>();
  order({ stop: true });
  const megabytes = (await sent) / 1e6;
  await sleep(200);
  return { ...worst, megabytes };
}

function print(runtime: string, attack: string, { waitMs, cpuMs, asked, megabytes }: Worst & { megabytes: number }): void {
  const rate = megabytes / Number(values.seconds);
  const cells = [`${waitMs.toFixed(0)} ms`, `${cpuMs.toFixed(1)} ms CPU`, `${asked} asked`, `${rate.toFixed(1)} MB/s`];
  console.log(`${runtime.padEnd(8)} ${attack.padEnd(50)} ${cells.map((cell) => cell.padStart(12)).join("  ")}`);
}

const isWanted = (name: string) => values.attacks?.split(",").some((part) => name.includes(part)) ?? true;
const runtimes = contenders().filter(
  ({ name }) => /^(node|deno|bun)/.test(name) && (values.only?.split(",").includes(name) ?? true),
);

for (const runtime of runtimes.filter(isInstalled)) {
  const subject = await startProxy(runtime, [replicaPort]);
  await probe(subject, 500);
  print(runtime.name, "(nobody)", { ...(await probe(subject, 2_000)), megabytes: 0 });
  for (const client of Object.keys(CLIENT_ATTACKS).filter(isWanted))
    print(
      runtime.name,
      client,
      await underAttack(subject, () => order({ client, port: subject.port, connections: Number(values.connections) })),
    );
  for (const replica of Object.keys(REPLICA_ATTACKS).filter(isWanted)) {
    const reader = new ClientConnection(subject);
    print(
      runtime.name,
      `replica: ${replica}`,
      await underAttack(subject, () => {
        order({ replica });
        reader.send(chatMessage({ bytes: 1024, conversation: 0, isStream: true }).bytes, () => {});
      }),
    );
    reader.close();
    await sleep(200);
  }
  await stopSubject(subject);
}
await stopAll();
process.exit(0);
