import { seededRandom } from "../../core/contract/test-kit.ts";
import { closeClients, KINDS, send } from "./clients.ts";
import { type DisturbedPool, startDisturbedPool } from "./disturbances.ts";
import { FILTER_FAULTS } from "./faulty-filter.ts";
import { OBSERVER_FAULTS } from "./faulty-observer.ts";
import { SCORER_FAULTS } from "./faulty-scorer.ts";
import type { Sample } from "./growth.ts";
import type { Result } from "./judge.ts";
import { awaitRest, type Rest } from "./rest.ts";
import { type LoggedRequest, type Runtime, startSoakRouter } from "./router.ts";

export interface SoakOptions {
  readonly runtime: Runtime;
  readonly minutes: number;
  readonly clients: number;
  readonly seed: number;
}

/** What one run showed. */
export interface Findings {
  readonly results: Readonly<Record<Result, number>>;
  /** Failed requests that met no disturbed replica, with what the router logged of them. */
  readonly unexplained: readonly (readonly [id: string, logged: LoggedRequest | undefined])[];
  /** Disturbances by name. */
  readonly disturbances: ReadonlyMap<string, number>;
  /** Requests at which one of the router's plugins broke its contract. */
  readonly pluginFaults: number;
  /** For how long clients and replicas had too little of the processor. */
  readonly starvedMs: number;
  readonly samples: readonly Sample[];
  readonly rest: Rest | undefined;
  readonly filesBefore: number;
  readonly uncaught: readonly string[];
  /** Why the router's process ended before it was stopped; undefined if it did not. */
  readonly endedEarly: string | undefined;
  readonly exitCode: number | null;
}

const SAMPLE_MS = 3_000;
/** A client waits up to so long before its next request. */
const PAUSE_MS = 1_200;
/** Clients that leave at once would crowd out the others. */
const LEFT_PAUSE_MS = 3_000;
/** One request in so many has a plugin's fault, one in five of them a filter's, which fails it. */
const FAULT_SHARE = 0.05;
const HARMLESS_FAULTS = [...SCORER_FAULTS.keys(), ...OBSERVER_FAULTS.keys()];
const REFUSING_FAULTS = [...FILTER_FAULTS.keys()];
const REFUSING_SHARE = 0.2;

export async function soak({ runtime, minutes, clients, seed }: SoakOptions): Promise<Findings> {
  const random = seededRandom(seed);
  const pool = await startDisturbedPool(random);
  const router = await startSoakRouter(runtime, pool.urls);
  await router.memory();
  const filesBefore = router.openFiles;
  const samples: Sample[] = [];
  const results = noResults();
  const failed: string[] = [];
  let pluginFaults = 0;
  let serial = 0;
  let ended = 0;

  const client = async (index: number, endMs: number) => {
    const kind = KINDS[index % KINDS.length]!;
    while (Date.now() < endMs && router.ended === undefined) {
      serial += 1;
      const fault = random() < FAULT_SHARE ? pluginFault(random) : "";
      if (fault !== "") pluginFaults += 1;
      const id = fault === "" ? `soak-${serial}` : `soak-${serial}-${fault}`;
      const result = await send(router.port, { kind, id, serial, isFiltered: FILTER_FAULTS.has(fault) });
      ended += 1;
      results[result] += 1;
      if (result === "refused" || result === "broken") failed.push(id);
      await sleep((result === "left" ? LEFT_PAUSE_MS : PAUSE_MS) * random());
    }
  };
  const sampler = setInterval(() => {
    router.memory().then(
      (memory) => samples.push({ ...memory, requests: ended }),
      () => {}, // The router has ended, which is reported below.
    );
  }, SAMPLE_MS);
  pool.begin();
  const endMs = Date.now() + minutes * 60_000;
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index, endMs)));
  clearInterval(sampler);
  closeClients();
  await pool.calm();
  const rest = await awaitRest(router, filesBefore);
  const endedEarly = router.ended;
  const exitCode = await router.stop();
  await pool.close();
  const unexplained = failed.filter((id) => !isExplained(router.failures.get(id), pool));
  return {
    results,
    unexplained: unexplained.map((id) => [id, router.failures.get(id)]),
    disturbances: pool.counts,
    pluginFaults,
    starvedMs: pool.starvedMs,
    samples,
    rest,
    filesBefore,
    uncaught: router.uncaught,
    endedEarly,
    exitCode,
  };
}

function noResults(): Record<Result, number> {
  return {
    ...{ served: 0, refused: 0, broken: 0, "plugin fault": 0, left: 0 },
    ...{ wrong: 0, damaged: 0, "mixed up": 0, hung: 0 },
  };
}

function pluginFault(random: () => number): string {
  const names = random() < REFUSING_SHARE ? REFUSING_FAULTS : HARMLESS_FAULTS;
  return names[Math.floor(random() * names.length)]!;
}

/** Whether the request met a replica that something was being done to. Endpoints are named after their ports. */
function isExplained(request: LoggedRequest | undefined, pool: DisturbedPool): boolean {
  if (request === undefined) return false;
  const { attempts, atMs, durationMs } = request;
  return attempts.some(({ endpoint }) => pool.wasDisturbed(Number(endpoint.split("-").at(-1)), atMs - durationMs, atMs));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
