/**
 * What a line in front of a full pool does in a burst, on simulated replicas: `npm run bench:admission`. Every request is admitted and
 * decided by the router's own code. `docs/measured.md` has the figures.
 */

import { ENGINE_TIMES } from "../../apps/lab/engine/engine-times.ts";
import { quantile } from "../../apps/lab/simulate/metrics.ts";
import { Simulation } from "../../apps/lab/simulate/simulation.ts";
import type { Trace, TraceRequest } from "../../apps/lab/simulate/trace.ts";
import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import type { Ticket } from "../../core/ticket.ts";
import { builtIns } from "../../plugins/registry.ts";
import { type Stream, trafficOf } from "./admission/burst.ts";

const REPLICAS = 8;
/** Requests a second that the pool can serve, about. */
const CAPACITY_PER_S = 40;
/** A first burst, in which the room is learned; then the pool is idle, until the second one, which is measured. */
const FIRST_S = 12;
const FROM_S = 60;
const BURST_S = 30;

const VIP: Stream = { tenant: "vip", priority: 10, perS: 4, fromS: 0, untilS: FROM_S + BURST_S, seed: 9 };

/** A tenant that sends this share of the pool's capacity. */
const tenant = (name: string, share: number, seed: number, fromS = FROM_S, untilS = FROM_S + BURST_S): Stream => {
  return { tenant: name, priority: 0, perS: CAPACITY_PER_S * share, fromS, untilS, seed };
};

const TRAFFIC: Readonly<Record<string, Trace>> = {
  "high priority alone": trafficOf([VIP]),
  "70 % of capacity, one priority": trafficOf([tenant("a", 0.25, 1), tenant("b", 0.25, 2), tenant("greedy", 0.2, 3)]),
  "70 % of capacity, two priorities": trafficOf([VIP, tenant("a", 0.2, 1), tenant("b", 0.2, 2), tenant("greedy", 0.2, 3)]),
  "ten times the capacity": trafficOf([
    ...[VIP, tenant("a", 2, 5, 0, FIRST_S)],
    ...[tenant("a", 1, 1), tenant("b", 1, 2), tenant("greedy", 8, 3)],
  ]),
};

const HEADERS = "maxRequests: 100000, maxWaitMs: 1h, priorityHeaders: [x-priority], tenantHeaders: [x-tenant]";
const holding = (ceiling: number) =>
  `\n  plugins: [ { type: fair-queue, parameters: { ceiling: { domain: rank, minCeiling: ${ceiling} } } } ]`;
const CONFIGS: Readonly<Record<string, string>> = {
  "no line": "",
  "room learned": `\n  admission: { ${HEADERS} }`,
  "room learned, ceiling 0.6": `\n  admission: { ${HEADERS} }${holding(0.6)}`,
  "concurrency 24, tokens 1000": `\n  admission: { ${HEADERS}, concurrency: 24, tokens: 1000 }`,
};

interface Done {
  readonly ticket: Ticket;
  readonly request: TraceRequest;
}

async function load(spec: string): Promise<LoadedConfig> {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: "http://replica" } ] }${spec}\n`;
  const loaded = await loadTexts([{ file: "bench.yaml", text }], builtIns);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

function simulate(trace: Trace, loaded: LoadedConfig, maxRunning: number) {
  const done: Done[] = [];
  const { hitRatio } = new Simulation(trace, loaded, {
    replicas: REPLICAS,
    model: { ...ENGINE_TIMES, maxRunning },
    ...{ speeds: [], timeScale: 1, seed: 1, tokenError: 0.2, faults: [] },
    ended: (ticket, request) => done.push({ ticket, request }),
  }).run();
  return { hitRatio, done };
}

const isOf = (tenant: string) => (each: Done) => each.request.headers!["x-tenant"] === tenant;
const tokensOf = (some: readonly Done[]) =>
  some.reduce((tokens, { request }) => tokens + request.prompt.tokens + request.outputTokens, 0);
const ttftOf = ({ ticket, request }: Done) => ticket.times.firstByteAtMs - request.atMs;

function row({ hitRatio, done }: ReturnType<typeof simulate>): readonly string[] {
  const served = done.filter(({ ticket }) => ticket.status === 200);
  const later = served.filter(({ ticket }) => ticket.times.endedAtMs >= FROM_S * 1000);
  const lastMs = Math.max(...later.map(({ ticket }) => ticket.times.endedAtMs));
  // While all tenants have requests that wait.
  const busy = later.filter(({ ticket }) => ticket.times.endedAtMs >= (FROM_S + 5) * 1000 && ticket.times.endedAtMs < 120_000);
  const sum = ["a", "b", "greedy"].reduce((tokens, name) => tokens + tokensOf(busy.filter(isOf(name))), 0);
  const shares = ["a", "b", "greedy"].map((name) => ((100 * tokensOf(busy.filter(isOf(name)))) / sum).toFixed(1));
  const vip = Float64Array.from(
    served.filter(isOf("vip")).filter(({ request }) => request.atMs >= FROM_S * 1000),
    ttftOf,
  ).sort();
  const isLost = ({ ticket }: Done) => ticket.status !== 200 && (ticket.wait === undefined || ticket.wait.end === "admitted");
  return [
    String(done.length),
    String(done.filter(({ ticket }) => ticket.wait !== undefined).length),
    String(done.filter(isLost).length),
    ((tokensOf(later) * 1000) / (lastMs - FROM_S * 1000)).toFixed(0),
    `${(100 * hitRatio).toFixed(1)} %`,
    sum === 0 ? "" : shares.join(" / "),
    vip.length === 0 ? "" : `${quantile(vip, 0.5).toFixed(0)} / ${quantile(vip, 0.99).toFixed(0)}`,
  ];
}

const TITLES = ["requests", "waited", "lost", "tokens/s", "hits", "shares a / b / greedy", "high priority TTFT p50 / p99 ms"];
for (const maxRunning of [32, 256]) {
  console.log(`\n## Engines that run ${maxRunning} requests\n`);
  console.log(`| traffic | config | ${TITLES.join(" | ")} |`);
  console.log(`|${" --- |".repeat(TITLES.length + 2)}`);
  for (const [traffic, trace] of Object.entries(TRAFFIC))
    for (const [name, spec] of Object.entries(CONFIGS))
      console.log(`| ${traffic} | ${name} | ${row(simulate(trace, await load(spec), maxRunning)).join(" | ")} |`);
}
