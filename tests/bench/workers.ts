/**
 * What a request costs with two workers, beside one process, and beside two processes that do not know each other: `npm run bench:workers -- --help`.
 * CPU time counts, since router, load and replicas share a few cores here, where two processes get through no more requests than one. The
 * last two have the same load in the same way; what they differ by is what workers pay to be one router.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { ClosedLoopJob, ClosedLoopResult } from "./load-unary.ts";
import { median } from "./median.ts";
import { type Subject, startDriver, startProxy, startUpstream, stopAll, stopSubject } from "./processes.ts";
import { type Contender, contenders, isInstalled } from "./proxies.ts";

const HELP = `Usage: npm run bench:workers -- [options]

  --only A,B,...  only these runtimes
  --requests N    so many for each measurement (default 6000)
  --repeats N     takes the median of so many (default 3)
`;
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    requests: { type: "string", default: "6000" },
    repeats: { type: "string", default: "3" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const BODY_BYTES = 4_000;
const CONNECTIONS = 64;
const SETTLE_MS = 2_000;
const REQUESTS = Number(values.requests);
const STREAMS = 100;
const ROUNDS = 3;
const PACE = { events: 100, intervalMs: 20 };

/** One way to run the router. */
interface Way {
  readonly name: string;
  readonly words: readonly string[];
  /** So many of these programs at once, each with its part of the load. */
  readonly programs: number;
}

const WAYS: readonly Way[] = [
  { name: "one process", words: [], programs: 1 },
  { name: "two apart", words: [], programs: 2 },
  { name: "--workers 2", words: ["--workers", "2"], programs: 1 },
];

function withWords(runtime: Contender, words: readonly string[]): Contender {
  return {
    ...runtime,
    launch(place) {
      const launch = runtime.launch(place);
      return { ...launch, args: [...launch.args, ...words] };
    },
  };
}

const upstream = await startUpstream();
const drivers = [startDriver(), startDriver()];

/** CPU time per event of streams at a fixed rate, which no way can raise or lower. */
async function ofStreams(subjects: readonly Subject[]): Promise<number> {
  upstream.setPace(PACE);
  const results = await Promise.all(
    subjects.map((subject, at) => {
      const share = { streams: STREAMS / subjects.length, rounds: ROUNDS, rampMs: 500, ...PACE };
      return drivers[at]!.run({ kind: "streams", ...subject, ...share });
    }),
  );
  return results.reduce((sum, { cpuMicrosPerEvent }) => sum + cpuMicrosPerEvent, 0) / subjects.length;
}

/** CPU time of all the router's processes per event of a stream and per short request, and requests per second. */
async function measured(runtime: Contender, { words, programs }: Way) {
  const subjects: Subject[] = [];
  for (let count = 0; count < programs; count++) subjects.push(await startProxy(withWords(runtime, words), upstream.ports));
  await sleep(SETTLE_MS);
  const eventMicros = await ofStreams(subjects);
  // Two drivers in any case, as there are two that are driven.
  const results = await Promise.all(
    drivers.map((driver, at) => {
      const subject = subjects[at % programs]!;
      const share = { connections: CONNECTIONS / drivers.length, requests: REQUESTS / 2, warmUpRequests: REQUESTS / 4 };
      const job: ClosedLoopJob = {
        kind: "closed-loop",
        ...subject,
        ...share,
        bodyBytes: BODY_BYTES,
        isFresh: false,
        limitMs: 40_000,
      };
      return driver.run(job);
    }),
  );
  for (const subject of subjects) await stopSubject(subject);
  const sum = (of: (result: ClosedLoopResult) => number) => results.reduce((total, result) => total + of(result), 0);
  // Of one program each driver sees all its CPU time, but its own half of the requests.
  return {
    eventMicros,
    micros: sum((result) => result.cpuMicrosPerRequest) / (programs === 1 ? 4 : 2),
    perSecond: sum((result) => result.requestsPerSecond),
  };
}

const runtimes = contenders().filter(
  ({ name }) => /^(node|deno|bun)/.test(name) && (values.only?.split(",").includes(name) ?? true),
);
for (const runtime of runtimes.filter(isInstalled)) {
  const runs: Awaited<ReturnType<typeof measured>>[][] = WAYS.map(() => []);
  for (let repeat = 0; repeat < Number(values.repeats); repeat++)
    for (const [at, way] of WAYS.entries()) runs[at]!.push(await measured(runtime, way));
  const medians = runs.map((all) => ({
    eventMicros: median(all.map((each) => each.eventMicros)),
    micros: median(all.map(({ micros }) => micros)),
    perSecond: median(all.map(({ perSecond }) => perSecond)),
  }));
  for (const [at, { name }] of WAYS.entries()) {
    const { eventMicros, micros, perSecond } = medians[at]!;
    const cells = [
      `${eventMicros.toFixed(1)} us CPU per event`,
      `${micros.toFixed(0)} per request`,
      `${perSecond.toFixed(0)} requests/s here`,
    ];
    console.log(`${runtime.name.padEnd(8)} ${name.padEnd(12)} ${cells.join(", ")}`);
  }
  const [, apart, workers] = medians;
  const ratios = [workers!.eventMicros / apart!.eventMicros, workers!.micros / apart!.micros];
  const [streams, requests] = ratios.map((ratio) => `${ratio.toFixed(2)} (${(2 / ratio).toFixed(2)} x on two cores)`);
  console.log(`${runtime.name.padEnd(8)} workers cost, of two apart: streams ${streams}, short requests ${requests}`);
}
await stopAll();
process.exit(0);
