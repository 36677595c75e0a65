/**
 * Measures what a request and a stream cost in this router and in other proxies, side by side in one run:
 * `npm run bench -- --help` has the switches. CPU time of the proxy's processes comes first; requests per second mean little where
 * proxy, load and upstream share a few cores.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { numberArgument, switchError } from "../../apps/cli/frame/usage.ts";
import { UsageError } from "../../config/command.ts";
import { type Bench, type Cell, cells, FULL, QUICK } from "./cells.ts";
import {
  type Driver,
  type Subject,
  startDriver,
  startProxy,
  startUpstream,
  stopAll,
  stopSubject,
  type Upstream,
} from "./processes.ts";
import { profile } from "./profile.ts";
import { type Contender, contenders, isInstalled, root } from "./proxies.ts";
import { DIRECT, type Run, save, table } from "./report.ts";

const SETTLE_MS = 1_500;
/** What a cell and the end of a run may still take once the time is up. */
const RESERVE_MS = 6_000;

const HELP = `Usage: npm run bench -- [options]

Measures what requests and streams cost in this router and in other proxies, side by side. Those that are not installed are left out.

  --only A,B,...   only these: ${contenders()
    .map(({ name }) => name)
    .join(", ")}
  --cells A,B,...  only these cells; their names are in tests/bench/cells.ts
  --repeats N      starts all afresh so often, and takes the median (default 3; with --quick 1)
  --quick          fewer requests: a minute and a half instead of ten minutes
  --tls            with TLS on the proxies' ports, the same certificate and cipher for all (nginx and this router)
  --profile        profiles this router instead, one runtime after the other
  --help           shows this text
`;

const SWITCHES = {
  only: { type: "string" },
  cells: { type: "string" },
  repeats: { type: "string" },
  quick: { type: "boolean", default: false },
  tls: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

function readArguments() {
  try {
    const { values } = parseArgs({ options: SWITCHES });
    const repeats = numberArgument("--repeats", values.repeats ?? (values.quick ? "1" : "3"), 1, 100, true);
    return { ...values, repeats, only: values.only?.split(",").map(knownProxy), cells: chosenCells(values.cells) };
  } catch (thrown) {
    console.error((thrown instanceof UsageError ? thrown : switchError(thrown, '"npm run bench -- --help"')).message);
    process.exit(2);
  }
}

function chosenCells(names: string | undefined): readonly Cell[] {
  const wanted = names?.split(",");
  const unknown = wanted?.find((name) => !cells.some((cell) => cell.name === name));
  if (unknown !== undefined)
    throw new UsageError(`No cell is called ${unknown}; there are ${cells.map(({ name }) => name).join(", ")}.`);
  return cells.filter(({ name }) => wanted?.includes(name) ?? true);
}

function knownProxy(name: string): string {
  const known = contenders().map((proxy) => proxy.name);
  if (!known.includes(name)) throw new UsageError(`No proxy is called ${name}; there are ${known.join(", ")}.`);
  return name;
}

const asked = readArguments();
if (asked.help) {
  console.log(HELP);
  process.exit(0);
}
const size = asked.quick ? QUICK : FULL;
const endMs = performance.now() + size.limitMs;
const notes: string[] = [];

type Sampled = Record<string, Record<string, number>>;

function note(line: string): void {
  notes.push(line);
  console.log(line);
}

/** Those asked for by name, or those that run by default; without what isn't installed here. */
function chosenProxies(): readonly Contender[] {
  const wanted = contenders().filter(({ name, isDefault, hasTls }) => {
    return (asked.only?.includes(name) ?? isDefault) && (hasTls || !asked.tls);
  });
  const missing = wanted.filter((proxy) => !isInstalled(proxy));
  for (const { name, program } of missing) note(`${name} is left out: ${program} is not installed.`);
  return wanted.filter(isInstalled);
}

/** Starts all afresh, takes each cell through all of them in an order that moves on, and stops them. */
async function oneRepeat(index: number, chosen: readonly Contender[], upstream: Upstream, driver: Driver): Promise<Sampled> {
  const direct: Subject = { name: DIRECT, port: upstream.ports[0]!, isTls: false, pids: [] };
  const started = await Promise.all(chosen.map((proxy) => tryStart(proxy, upstream)));
  const subjects = [direct, ...started.filter((subject) => subject !== undefined)];
  await sleep(SETTLE_MS);
  const samples: Sampled = Object.fromEntries(subjects.map(({ name }) => [name, {}]));
  for (const [turn, cell] of asked.cells.entries()) {
    for (const subject of rotated(subjects, index + turn)) {
      if (subject === direct && !cell.hasDirect) continue;
      if (performance.now() > endMs - RESERVE_MS) {
        note(`The time is up: repeat ${index + 1} ends before "${cell.name}" of ${subject.name}.`);
        return endRepeat(subjects, samples);
      }
      await sample(cell, { upstream, driver, size }, subject, samples[subject.name]!);
    }
    console.log(`repeat ${index + 1}: ${cell.name}`);
  }
  return endRepeat(subjects, samples);
}

async function endRepeat(subjects: readonly Subject[], samples: Sampled): Promise<Sampled> {
  await Promise.all(subjects.map(stopSubject));
  return samples;
}

async function tryStart(proxy: Contender, upstream: Upstream): Promise<Subject | undefined> {
  try {
    return await startProxy(proxy, upstream.ports, asked.tls);
  } catch (error) {
    note(`${proxy.name} is left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Adds what the cell measured; losses of several cells add up. */
async function sample(cell: Cell, bench: Bench, subject: Subject, samples: Record<string, number>): Promise<void> {
  for (const [key, value] of Object.entries(await cell.measure(bench, subject))) {
    samples[key] = key === "lost" || key === "failures" ? (samples[key] ?? 0) + value : value;
  }
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

async function main(): Promise<void> {
  const chosen = chosenProxies();
  if (chosen.length === 0) throw new Error("None of them is installed, so there is nothing to measure.");
  const upstream = await startUpstream();
  const driver = startDriver();
  if (asked.profile) return profile(chosen, upstream, driver);
  const run: Run[number][] = [];
  let longestMs = 0;
  for (let index = 0; index < asked.repeats; index++) {
    const beginMs = performance.now();
    if (beginMs + longestMs > endMs - RESERVE_MS) {
      note(`The time allows ${index} of ${asked.repeats} repeats.`);
      break;
    }
    run.push(await oneRepeat(index, chosen, upstream, driver));
    longestMs = Math.max(longestMs, performance.now() - beginMs);
  }
  const names = chosen.map(({ name }) => name);
  const shown = table(run, names);
  console.log(`\n${shown}\n\nSaved as ${save(join(root, ".cache", "bench"), run, shown, notes)}`);
}

let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    process.exitCode = 130;
    void stopAll().finally(() => process.exit());
  });
}
main()
  .catch((error: unknown) => {
    if (isInterrupted) return;
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  .finally(stopAll)
  .finally(() => process.exit());
