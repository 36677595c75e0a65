import type { OpenLoopJob } from "./load-unary.ts";
import { residentBytes } from "./process-cpu.ts";
import type { Driver, Subject, Upstream } from "./processes.ts";

/** What one number means, and what it is held against. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  /** "ratio": also as a multiple of nginx. "added": what the subject adds to going direct. */
  readonly against: "ratio" | "added" | "nothing";
  /** From the unit of the samples to the unit of the title. */
  readonly scale: number;
}

export type Samples = Readonly<Record<string, number>>;

/** One measurement of one subject; cells run for all subjects in turn, so that what is compared was measured side by side. */
export interface Cell {
  readonly name: string;
  /** Also measured without a proxy. */
  readonly hasDirect: boolean;
  readonly measure: (bench: Bench, subject: Subject) => Promise<Samples>;
}

export interface Bench {
  readonly upstream: Upstream;
  readonly driver: Driver;
  readonly size: Size;
}

/** How much of each is done. */
export interface Size {
  /** Of the requests of a cell, this share is made. */
  readonly share: number;
  /** The same of the warm-up. */
  readonly warmUpShare: number;
  readonly latencyMs: number;
  readonly streamRounds: number;
  readonly manyStreamEvents: number;
  readonly limitMs: number;
}

export const FULL: Size = {
  share: 1,
  warmUpShare: 1,
  latencyMs: 3_000,
  streamRounds: 3,
  manyStreamEvents: 100,
  limitMs: 600_000,
};
export const QUICK: Size = {
  share: 1 / 3,
  warmUpShare: 1 / 2,
  latencyMs: 1_000,
  streamRounds: 1,
  manyStreamEvents: 20,
  limitMs: 90_000,
};

/**
 * What went before leaves compiled code behind that fits the next kind of traffic badly, and while the others were measured, a runtime
 * throws code and memory away: the first part of each is not counted. Deno and Bun need some 20,000 requests of 64 KB.
 */
const UNCOUNTED_ROUNDS = 5;
const BODIES: readonly (readonly [label: string, bytes: number, uncounted: number, requests: number])[] = [
  ["1 KB", 1024, 30_000, 20_000],
  ["4 KB", 4 * 1024, 30_000, 20_000],
  ["64 KB", 64 * 1024, 30_000, 6_000],
  ["1 MB", 1024 * 1024, 900, 600],
];
const CONNECTIONS = 16;
const [CONNECTIONS_UNCOUNTED, CONNECTIONS_COUNTED] = [2_000, 4_000];
/** So many until a router's code has been compiled as far as it will be: until then a request costs up to twice as much. */
const WARM_UP_REQUESTS = 80_000;
const LONGEST_WARM_UP_MS = 12_000;
const LONGEST_UNARY_MS = 4_000;
const LATENCY: Pick<OpenLoopJob, "kind" | "ratePerSecond"> = { kind: "open-loop", ratePerSecond: 200 };
const FEW = { streams: 100, rampMs: 200, intervalMs: 10 };
const MANY = { streams: 2_000, rampMs: 1_000, intervalMs: 100 };

export const figures: readonly Figure[] = [
  ...BODIES.map(([label]) => cpu(`request ${label}`, `CPU us per request, ${label}`)),
  cpu("connection", "CPU us per connection with one request, 1 KB"),
  cpu("event few", "CPU us per SSE chunk, 100 streams"),
  cpu("event many", "CPU us per SSE chunk, 2,000 streams"),
  { key: "latency p50", title: "added latency p50, us (4 KB, 200/s)", against: "added", scale: 1 },
  { key: "latency p99", title: "added latency p99, us", against: "added", scale: 1 },
  { key: "beside p99", title: "added p99 beside 1 MB bodies, us (1 KB)", against: "added", scale: 1 },
  { key: "first p50", title: "added first-chunk delay p50, us", against: "added", scale: 1 },
  { key: "first p99", title: "added first-chunk delay p99, us", against: "added", scale: 1 },
  { key: "resident idle", title: "resident MB, idle", against: "nothing", scale: 2 ** -20 },
  { key: "resident per stream", title: "resident KB per stream, 2,000 open", against: "nothing", scale: 2 ** -10 },
  { key: "lost", title: "chunks lost", against: "nothing", scale: 1 },
  { key: "failures", title: "requests failed", against: "nothing", scale: 1 },
];

function cpu(key: string, title: string): Figure {
  return { key, title, against: "ratio", scale: 1 };
}

export const cells: readonly Cell[] = [
  { name: "idle", hasDirect: false, measure: async (_bench, { pids }) => ({ "resident idle": residentBytes(pids) }) },
  { name: "warm-up", hasDirect: true, measure: warmUp },
  { name: "2,000 streams", hasDirect: false, measure: manyStreams },
  { name: "100 streams", hasDirect: true, measure: fewStreams },
  { name: "latency", hasDirect: true, measure: latency },
  { name: "latency beside 1 MB bodies", hasDirect: true, measure: latencyBeside },
  { name: "connections of one request", hasDirect: false, measure: connections },
  // The small ones last: a request that costs this little is measured in code that has been compiled as far as it will be.
  ...BODIES.map((body) => unary(...body)).reverse(),
];

/** Compiled code and open connections are what a long-running proxy has. */
async function warmUp(bench: Bench, subject: Subject): Promise<Samples> {
  const pace = { events: 100, intervalMs: 4 };
  bench.upstream.setPace(pace);
  await bench.driver.run({ ...job(subject), kind: "streams", streams: 50, rounds: 8, rampMs: 50, ...pace });
  await bench.driver.run(closedLoop(subject, 4 * 1024, WARM_UP_REQUESTS * bench.size.warmUpShare, 0, LONGEST_WARM_UP_MS));
  return {};
}

async function manyStreams(bench: Bench, subject: Subject): Promise<Samples> {
  const pace = { events: bench.size.manyStreamEvents, intervalMs: MANY.intervalMs };
  bench.upstream.setPace(pace);
  const result = await bench.driver.run({ ...job(subject), kind: "streams", rounds: 1, ...MANY, ...pace });
  return { "event many": result.cpuMicrosPerEvent, "resident per stream": result.bytesPerStream, lost: result.lost };
}

async function fewStreams(bench: Bench, subject: Subject): Promise<Samples> {
  const pace = { events: 100, intervalMs: FEW.intervalMs };
  bench.upstream.setPace(pace);
  const few = { ...job(subject), kind: "streams" as const, ...FEW, ...pace };
  await bench.driver.run({ ...few, rounds: UNCOUNTED_ROUNDS });
  const result = await bench.driver.run({ ...few, rounds: bench.size.streamRounds });
  return {
    "event few": result.cpuMicrosPerEvent,
    "first p50": result.firstEventP50Micros,
    "first p99": result.firstEventP99Micros,
    lost: result.lost,
  };
}

async function latency({ driver, size }: Bench, { port, isTls }: Subject): Promise<Samples> {
  const result = await driver.run({ ...LATENCY, port, isTls, bodyBytes: 4 * 1024, durationMs: size.latencyMs });
  return { "latency p50": result.p50Micros, "latency p99": result.p99Micros, failures: result.failures };
}

async function latencyBeside({ driver, size }: Bench, { port, isTls }: Subject): Promise<Samples> {
  const result = await driver.run({
    ...LATENCY,
    port,
    isTls,
    bodyBytes: 1024,
    besideBodyBytes: 1024 * 1024,
    durationMs: size.latencyMs,
  });
  return { "beside p99": result.p99Micros, failures: result.failures };
}

async function connections({ driver, size }: Bench, subject: Subject): Promise<Samples> {
  const load = closedLoop(subject, 1024, CONNECTIONS_UNCOUNTED * size.share, CONNECTIONS_COUNTED * size.share);
  const result = await driver.run({ ...load, isFresh: true });
  return { connection: result.cpuMicrosPerRequest, failures: result.failures };
}

function unary(label: string, bytes: number, uncounted: number, requests: number): Cell {
  return {
    name: `${label} requests`,
    hasDirect: false,
    async measure({ driver, size }, subject) {
      const result = await driver.run(closedLoop(subject, bytes, uncounted * size.share, requests * size.share));
      return { [`request ${label}`]: result.cpuMicrosPerRequest, failures: result.failures };
    },
  };
}

/** Requests over 16 connections, some of them before the count begins. */
export function closedLoop(
  subject: Subject,
  bodyBytes: number,
  warmUpRequests: number,
  requests: number,
  limitMs = LONGEST_UNARY_MS,
) {
  return {
    ...job(subject),
    kind: "closed-loop" as const,
    connections: CONNECTIONS,
    bodyBytes,
    warmUpRequests,
    requests,
    isFresh: false,
    limitMs,
  };
}

const job = ({ port, isTls, pids }: Subject) => ({ port, isTls, pids });
