import type { LoadedConfig } from "../../config/load.ts";
import { buildProgram } from "../control/program.ts";
import type { Endpoint } from "../endpoint.ts";
import { parseEndpointUrl } from "../endpoint-url.ts";
import { silentLog } from "../log.ts";
import { decide } from "../pipeline.ts";
import type { PrefixSettings, Random } from "../plugin.ts";
import { type Snapshot, servedModels } from "../snapshot.ts";
import { Claim } from "../state/claim.ts";
import { LoadTable } from "../state/load.ts";
import { SECRET_WORDS } from "../state/prefix-hash.ts";
import { PrefixIndex } from "../state/prefix-index.ts";
import { seededRandom } from "../test-kit.ts";
import { EventQueue } from "./events.ts";
import { type Metrics, Recorder } from "./metrics.ts";
import { Job, Replica, type ReplicaModel } from "./replica.ts";
import { RequestMaker } from "./request-maker.ts";
import { scrape } from "./scrape.ts";
import type { Trace, TraceRequest } from "./trace.ts";

export interface SimulationSettings {
  readonly replicas: number;
  readonly model: ReplicaModel;
  /** By replica; where there is none, 1. Half is twice as slow. */
  readonly speeds: readonly number[];
  /** Times between requests are multiplied by this: below 1 means more load. */
  readonly timeScale: number;
  readonly seed: number;
  /** How far off the router's token counts may be, as a share. */
  readonly tokenError: number;
}

/** Requests between two reports of progress. */
const REPORT_EVERY = 64;

/** Replays a trace against modelled replicas; every request is parsed, decided and claimed by the router's own code. */
export class Simulation {
  readonly replicas: readonly Replica[];
  readonly #trace: Trace;
  readonly #settings: SimulationSettings;
  readonly #queue = new EventQueue();
  readonly #random: Random;
  readonly #load = new LoadTable(this.#queue);
  readonly #prefixIndex: PrefixIndex | undefined;
  readonly #snapshot: Snapshot;
  readonly #maker: RequestMaker;
  readonly #recorder = new Recorder();
  readonly #stopping = new AbortController();
  readonly #routed = new Map<Job, { readonly claim: Claim; readonly atMs: number }>();
  /** Requests that are neither answered nor refused. */
  #open: number;

  constructor(trace: Trace, loaded: LoadedConfig, settings: SimulationSettings) {
    this.#trace = trace;
    this.#settings = settings;
    this.#open = trace.requests.length;
    this.#random = seededRandom(settings.seed);
    const world = { clock: this.#queue, random: this.#random, log: silentLog, print: () => {}, isTerminal: false };
    const { program, sources, prefixSettings } = buildProgram(loaded, world, this.#stopping.signal);
    const endpoints = makeEndpoints(trace, loaded, settings.replicas, this.#load);
    this.#snapshot = { ...program, endpoints, served: servedModels(endpoints) };
    if (prefixSettings !== undefined) this.#prefixIndex = makePrefixIndex(prefixSettings, settings.seed);
    this.#maker = new RequestMaker(trace, settings.tokenError, seededRandom(settings.seed ^ 0x5eed));
    this.replicas = endpoints.map((_, index) => this.#makeReplica(settings.speeds[index] ?? 1));
    scrape({
      sources: sources.map(({ plugin }) => plugin),
      replicas: this.replicas,
      load: this.#load,
      prefixIndex: this.#prefixIndex,
      queue: this.#queue,
      random: seededRandom(settings.seed ^ 0x5c4a9e),
    });
  }

  /** Runs to the last answer. `progress` is told the share of requests that are over. */
  run(progress: (share: number) => void = () => {}): Metrics {
    this.#arriveFrom(0);
    while (this.#open > 0) {
      if (!this.#queue.runNext()) throw new Error("The simulation came to a stop with requests under way");
      if (this.#open % REPORT_EVERY === 0) progress(1 - this.#open / this.#trace.requests.length);
    }
    this.#stopping.abort();
    const busyMs = this.replicas.reduce((sum, replica) => sum + replica.busyMs, 0);
    return this.#recorder.metrics(this.#trace.requests.length, busyMs / (this.#queue.now() * this.replicas.length || 1));
  }

  #arriveFrom(index: number): void {
    const request = this.#trace.requests[index];
    if (request === undefined) return;
    this.#queue.at(request.atMs * this.#settings.timeScale, () => {
      this.#route(request, index);
      this.#arriveFrom(index + 1);
    });
  }

  #route(traced: TraceRequest, index: number): void {
    const request = this.#maker.make(traced, index, this.#world);
    const decision = decide(request, this.#world.snapshot, this.#load, this.#random);
    const [endpoint] = decision.order;
    if (endpoint !== undefined) this.#send(traced, request, endpoint);
    else this.#open -= 1;
    this.#recorder.decided(this.#load.inFlight, this.replicas.length, decision.faults.length > 0);
  }

  #send(traced: TraceRequest, request: ReturnType<RequestMaker["make"]>, endpoint: Endpoint): void {
    const claim = new Claim(request, endpoint, this.#load, this.#prefixIndex);
    const { filters, scorers } = this.#snapshot.profile;
    for (const { plugin } of filters) plugin.chosen?.(request, endpoint);
    for (const { plugin } of scorers) plugin.chosen?.(request, endpoint);
    const job = new Job(traced);
    this.#routed.set(job, { claim, atMs: this.#queue.now() });
    if (this.replicas[endpoint.slot]!.enqueue(job)) return;
    claim.withdraw();
    this.#over(job);
  }

  #makeReplica(speed: number): Replica {
    return new Replica(this.#settings.model, speed, this.#queue, {
      firstToken: (job) => {
        const { claim, atMs } = this.#routed.get(job)!;
        claim.firstByte();
        this.#recorder.firstToken(this.#queue.now() - atMs, job.request.prompt.tokens, job.cachedTokens);
      },
      finished: (job) => {
        this.#over(job);
        this.#recorder.completed();
      },
      decoded: (batch, steps, stepMs) => this.#recorder.decoded(batch * steps, stepMs),
    });
  }

  #over(job: Job): void {
    this.#routed.get(job)!.claim.release();
    this.#routed.delete(job);
    this.#open -= 1;
  }
}

/** Replicas that are ready and serve whatever may be asked for; labels are those of the config's endpoints, in turn. */
function makeEndpoints(trace: Trace, { config }: LoadedConfig, count: number, load: LoadTable): readonly Endpoint[] {
  const targets = config.rewrites.flatMap((rule) => rule.targets.map((target) => target.name));
  const models = new Set([...trace.requests.map((request) => request.model), ...targets]);
  const { endpoints } = config.pool;
  return Array.from({ length: count }, (_, index) => {
    const name = `replica-${index + 1}`;
    const labels = endpoints[index % endpoints.length]?.labels ?? {};
    return { name, slot: load.slotOf(name), url: parseEndpointUrl(`http://${name}`), labels, phase: "ready", models };
  });
}

/** The router's own index; its secret is drawn from the seed, so that a run can be repeated. */
function makePrefixIndex(prefixSettings: PrefixSettings, seed: number): PrefixIndex {
  const random = seededRandom(seed ^ 0x1de8);
  const secret = Array.from({ length: SECRET_WORDS }, () => Math.floor(random() * 2 ** 32));
  return new PrefixIndex({ ...prefixSettings, secret });
}
