/**
 * Lets a hundred clients of all kinds use the router while replicas are killed, wedged, slowed and made to fail, and counts what must
 * not happen: `npm run soak -- [--minutes 2] [--runtime node|deno|bun] [--clients 100] [--seed N]`. Exit code 1 if it did.
 */
import { parseArgs } from "node:util";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { closeClients, KINDS, type Result, send } from "./clients.ts";
import { type DisturbedPool, startDisturbedPool } from "./disturbances.ts";
import { type Runtime, type SoakRouter, startSoakRouter } from "./router.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    runtime: { type: "string" },
    clients: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
  },
});
const RUNTIMES: readonly Runtime[] = ["node", "deno", "bun"];
/** A router has returned to rest after this: ejected replicas are tried again, idle connections are closed. */
const REST_MS = 20_000;
const SAMPLE_MS = 5_000;
const PAUSE_MS = 50;
const LEFT_PAUSE_MS = 1_000;
/** Connections and files that come and go by themselves. */
const FILE_SLACK = 12;

/** What one run showed. */
interface Report {
  readonly results: Readonly<Record<Result, number>>;
  /** Failures of requests that met no disturbed replica. */
  readonly unexplained: readonly string[];
  /** Why the run failed; empty if it did not. */
  readonly broken: readonly string[];
}

async function soak(runtime: Runtime, minutes: number, clients: number, seed: number): Promise<Report> {
  const random = seededRandom(seed);
  const pool = await startDisturbedPool(random);
  const router = await startSoakRouter(runtime, pool.urls);
  const filesBefore = router.openFiles;
  const memory: number[] = [];
  const sampler = setInterval(() => memory.push(router.residentBytes), SAMPLE_MS);
  const results: Record<Result, number> = { served: 0, refused: 0, broken: 0, left: 0, wrong: 0, "mixed up": 0, hung: 0 };
  const failed: string[] = [];
  const endMs = Date.now() + minutes * 60_000;
  let serial = 0;

  const client = async (index: number) => {
    const kind = KINDS[index % KINDS.length]!;
    while (Date.now() < endMs) {
      serial += 1;
      const id = `soak-${serial}`;
      const result = await send(router.port, kind, id, `tag-${serial}-${kind.replace("-", "")}`);
      results[result] += 1;
      if (result === "refused" || result === "broken") failed.push(id);
      // Clients that leave at once would crowd out the others.
      const pauseMs = result === "left" ? LEFT_PAUSE_MS : PAUSE_MS;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * random()));
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  closeClients();
  await pool.calm();
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  clearInterval(sampler);

  const unexplained = failed.filter((id) => !isExplained(router.requests.get(id), pool));
  const broken = await whatBroke(router, results, unexplained, filesBefore);
  printSummary(
    runtime,
    minutes,
    results,
    memory,
    pool,
    unexplained.map((id) => `${id} ${JSON.stringify(router.requests.get(id))}`),
  );
  const code = await router.stop();
  await pool.close();
  return { results, unexplained, broken: code === 0 ? broken : [...broken, `the router ended with code ${code}`] };
}

/** Whether the request met a replica that something was being done to. */
function isExplained(request: ReturnType<SoakRouter["requests"]["get"]>, pool: DisturbedPool): boolean {
  if (request === undefined) return false;
  return request.attempts.some(({ endpoint }) =>
    pool.wasDisturbed(Number(endpoint.split("-").at(-1)), request.atMs - request.durationMs, request.atMs),
  );
}

async function whatBroke(
  router: SoakRouter,
  results: Report["results"],
  unexplained: readonly string[],
  filesBefore: number,
): Promise<readonly string[]> {
  const inFlight = await router.gaugeSum("signalbox_endpoint_in_flight");
  const tokens = await router.gaugeSum("signalbox_endpoint_prefill_tokens");
  const checks: readonly (readonly [isBroken: boolean, what: string])[] = [
    [results.served === 0, "no request was served"],
    [results.wrong > 0, `${results.wrong} responses were damaged`],
    [results["mixed up"] > 0, `${results["mixed up"]} responses were another request's`],
    [results.hung > 0, `${results.hung} requests hung`],
    [unexplained.length > 0, `${unexplained.length} requests failed that met no disturbed replica`],
    [inFlight !== 0 || tokens !== 0, `at rest ${inFlight} requests and ${tokens} prompt tokens are still counted`],
    [router.openFiles > filesBefore + FILE_SLACK, `${router.openFiles} open files at rest, ${filesBefore} at the start`],
  ];
  return checks.filter(([isBroken]) => isBroken).map(([, what]) => what);
}

function printSummary(
  runtime: Runtime,
  minutes: number,
  results: Report["results"],
  memory: readonly number[],
  pool: DisturbedPool,
  unexplained: readonly string[],
): void {
  const total = Object.values(results).reduce((sum, count) => sum + count, 0);
  const counts = Object.entries(results).map(([name, count]) => `${count} ${name}`);
  const faults = [...pool.counts].map(([name, count]) => `${count} ${name}`);
  const half = memory.slice(Math.floor(memory.length / 2));
  const slope = ((half.at(-1) ?? 0) - (half[0] ?? 0)) / 1e6 / Math.max(1e-9, ((half.length - 1) * SAMPLE_MS) / 60_000);
  console.log(`${runtime}, ${minutes} min: ${total} requests: ${counts.join(", ")}`);
  console.log(`  replicas were ${faults.join(", ")}`);
  console.log(`  memory ${Math.round((memory.at(-1) ?? 0) / 1e6)} MB, ${slope.toFixed(1)} MB a minute over the second half`);
  for (const line of unexplained.slice(0, 10)) console.log(`  unexplained: ${line}`);
}

const minutes = Number(values.minutes);
const chosen = RUNTIMES.filter((runtime) => values.runtime === undefined || values.runtime === runtime);
if (!(minutes > 0) || chosen.length === 0) {
  console.error("Use --minutes with a number above 0 and --runtime with node, deno or bun.");
  process.exit(2);
}
let failedRuns = 0;
for (const runtime of chosen) {
  const { broken } = await soak(runtime, minutes, Number(values.clients), Number(values.seed));
  for (const what of broken) console.log(`  BROKEN: ${what}`);
  if (broken.length > 0) failedRuns += 1;
}
console.log(`soak: ${chosen.length - failedRuns} passed, ${failedRuns} failed`);
process.exitCode = failedRuns === 0 ? 0 : 1;
