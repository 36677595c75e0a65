import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { closedLoop } from "./cells.ts";
import { type Driver, type Subject, startProxy, stopSubject, type Upstream } from "./processes.ts";
import { type Contender, root, router } from "./proxies.ts";

/** The part of a .cpuprofile that is read. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  /** Microseconds on the clock of process.hrtime, or since 1970. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

const INTERVAL_MICROS = 200;
const REQUESTS = 40_000;
const LOAD_MS = 15_000;
const TOP = 10;
const PACE = { events: 200, intervalMs: 10 };

/** Runs our router under the runtime's own profiler (Node and Bun have one) and prints where its time goes. */
export async function profile(chosen: readonly Contender[], upstream: Upstream, driver: Driver): Promise<void> {
  const profiled = chosen.filter(({ name }) => /^node|^bun/.test(name));
  if (profiled.length === 0) throw new Error("Nothing to profile: only the router on Node and on Bun can be.");
  for (const { name, program } of profiled) {
    await printTop(name, program, "4 KB requests", upstream, (subject) =>
      driver.run(closedLoop(subject, 4 * 1024, 0, REQUESTS, LOAD_MS)),
    );
    upstream.setPace(PACE);
    await printTop(name, program, "chunks of 100 streams", upstream, ({ port, isTls, pids }) =>
      driver.run({ kind: "streams", port, isTls, pids, streams: 100, rounds: 3, rampMs: 100, ...PACE }),
    );
  }
}

async function printTop(
  name: string,
  program: string,
  what: string,
  upstream: Upstream,
  load: (subject: Subject) => Promise<unknown>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-profile-"));
  try {
    const switches = [
      "--cpu-prof",
      `--cpu-prof-interval=${INTERVAL_MICROS}`,
      `--cpu-prof-dir=${folder}`,
      ...(needsTsx(name) ? ["--import", "tsx"] : []),
    ];
    const subject = await startProxy(router(name, program, switches), upstream.ports);
    const from = { monotonic: Number(process.hrtime.bigint() / 1000n), wall: Date.now() * 1000 };
    await load(subject);
    await stopSubject(subject);
    const [file] = readdirSync(folder);
    if (file === undefined) throw new Error(`${name} wrote no profile.`);
    const lines = topLines(JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile, from);
    console.log(`\n${name}, ${what}: share of self time\n${lines.join("\n")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the runtime reads TypeScript itself, the lines of a profile are those of the source. */
const needsTsx = (name: string) => /^node(18|20|22)?$/.test(name);

/** The places with the most samples of their own, from a time on: starting up is not what is asked about. */
function topLines(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  from: { monotonic: number; wall: number },
): readonly string[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const selfMicros = new Map<string, number>();
  const fromMicros = startTime > from.wall / 2 ? from.wall : from.monotonic;
  let total = 0;
  let now = startTime;
  for (const [index, id] of samples.entries()) {
    now += timeDeltas[index] ?? 0;
    if (now < fromMicros) continue;
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === "(idle)") continue;
    const place = placeOf(frame);
    const micros = timeDeltas[index] ?? 0;
    selfMicros.set(place, (selfMicros.get(place) ?? 0) + micros);
    total += micros;
  }
  const ranked = [...selfMicros].sort(([, a], [, b]) => b - a).slice(0, TOP);
  return ranked.map(([place, micros]) => `${((100 * micros) / total).toFixed(1).padStart(5)} %  ${place}`);
}

function placeOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName || "(anonymous)";
  if (url === "") return name;
  const path = url.startsWith("file:") ? relative(root, fileURLToPath(url)) : url;
  return `${name}  ${path}:${lineNumber + 1}`;
}
