import type { LoadedConfig } from "../../config/load.ts";
import type { Leg } from "../contract/decision.ts";
import type { InferenceRequest, ParsedBody } from "../contract/request.ts";
import { seededRandom } from "../contract/test-kit.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import { Forward } from "../forward/forward.ts";
import { Ticket } from "../request/ticket.ts";
import { EventQueue } from "./events.ts";
import { type Decider, type DeciderOf, decideAsAsked } from "./exact-state.ts";
import { conductAt, type Fault, faultsOf, nextChangeMs, type TimedFault } from "./faults.ts";
import { type Metrics, Recorder, type SimulatedTargets } from "./metrics.ts";
import type { Job, Replica } from "./replica.ts";
import { RequestMaker } from "./request-maker.ts";
import { makeRouterSide, type RouterSide } from "./router-side.ts";
import type { Trace, TraceRequest } from "./trace.ts";
import { Upstream } from "./upstream.ts";

export interface SimulationSettings {
  readonly replicas: number;
  readonly model: EngineTimes;
  /** By replica; where there is none, 1. Half is twice as slow. */
  readonly speeds: readonly number[];
  /** Times between requests are multiplied by this: below 1 means more load. */
  readonly timeScale: number;
  readonly seed: number;
  /** How far off the router's token counts may be, as a share. */
  readonly tokenError: number;
  /** Where there are none, the router ejects no replica and gives up no request. */
  readonly faults: readonly Fault[];
  /** What requests ask for in their headers, in turn; absent for nothing. */
  readonly targets?: readonly SimulatedTargets[];
  /** Is told of every request that is over. */
  readonly ended?: (ticket: Ticket, request: TraceRequest) => void;
}

/** Requests between two reports of progress. */
const REPORT_EVERY = 64;
const NO_TARGETS: SimulatedTargets = { ttftMs: Number.POSITIVE_INFINITY, tpotMs: Number.POSITIVE_INFINITY };
/** How often requests that wait are looked at. */
const SWEEP_MS = 250;
/** No stream is kept alive, and there are no opening events. */
const NO_FEATURES = { access: undefined, streams: undefined };
const INCOMING = { path: "", parser: { plugin: { dialect: "openai" } } } as const;
/** Nothing is written to a wire. */
const DRAFT = { method: "POST", pathAndQuery: "", lines: "", credentialLines: "", body: [] };
const NO_BUFFER = { frontBytes: 0 };

/** Replays a trace against modelled replicas; every request is parsed, decided and forwarded by the router's own code. */
export class Simulation {
  readonly replicas: readonly Replica[];
  readonly #trace: Trace;
  readonly #settings: SimulationSettings;
  readonly #queue = new EventQueue();
  readonly #upstreams: readonly Upstream[];
  readonly #router: RouterSide;
  readonly #maker: RequestMaker;
  readonly #recorder = new Recorder();
  readonly #decide: Decider;
  readonly #targets: readonly SimulatedTargets[];
  /** Requests that are not over. */
  #open: number;

  /** `deciderOf`: what decides the requests; by default the router's own code with what a router knows. */
  constructor(trace: Trace, loaded: LoadedConfig, settings: SimulationSettings, deciderOf: DeciderOf = () => decideAsAsked) {
    const { replicas, model, seed, speeds, tokenError, faults, targets = [NO_TARGETS] } = settings;
    this.#trace = trace;
    this.#settings = settings;
    this.#open = trace.requests.length;
    this.#targets = targets;
    const events = {
      firstToken: (job: Job) => this.#firstToken(job),
      decoded: (batch: number, steps: number, stepMs: number) => this.#recorder.decoded(batch * steps, stepMs),
    };
    this.#upstreams = Array.from({ length: replicas }, (_, at) => new Upstream(model, speeds[at] ?? 1, this.#queue, events));
    this.replicas = this.#upstreams.map(({ replica }) => replica);
    this.#decide = deciderOf(this.#upstreams);
    const hasFaults = faults.length > 0;
    this.#router = makeRouterSide({ trace, loaded, upstreams: this.#upstreams, seed, clock: this.#queue, hasFaults });
    this.#maker = new RequestMaker(trace, { tokenError, targets }, seededRandom(seed ^ 0x5eed));
    if (hasFaults) this.#startFaults(faults);
  }

  /** Runs until every request is over. `progress` is told the share of them that are. */
  run(progress: (share: number) => void = () => {}): Metrics {
    const total = this.#trace.requests.length;
    this.#arriveFrom(0);
    while (this.#open > 0) {
      if (!this.#queue.runNext()) throw new Error("The simulation came to a stop with requests under way");
      if (this.#open % REPORT_EVERY === 0) progress(1 - this.#open / total);
    }
    this.#router.dispose();
    const busyMs = this.replicas.reduce((sum, replica) => sum + replica.busyMs, 0);
    const utilization = busyMs / (this.#queue.now() * this.replicas.length || 1);
    return this.#recorder.metrics(total, utilization, this.#router.ejections());
  }

  #startFaults(faults: readonly Fault[]): void {
    for (const [index, upstream] of this.#upstreams.entries()) {
      this.#behave(upstream, faultsOf(index, faults, this.#settings.timeScale));
    }
    const { limits } = this.#router.config.settings;
    this.#queue.every(SWEEP_MS, () => {
      for (const upstream of this.#upstreams) upstream.sweep(limits);
    });
  }

  /** As its faults want it now, and from their next change on. */
  #behave(upstream: Upstream, faults: readonly TimedFault[]): void {
    const nowMs = this.#queue.now();
    upstream.behave(conductAt(faults, nowMs));
    const nextMs = nextChangeMs(faults, nowMs);
    if (nextMs < Number.POSITIVE_INFINITY) this.#queue.at(nextMs, () => this.#behave(upstream, faults));
  }

  #arriveFrom(index: number): void {
    const request = this.#trace.requests[index];
    if (request === undefined) return;
    this.#queue.at(this.#arrivalMs(request), () => {
      this.#arrive(request, index);
      this.#arriveFrom(index + 1);
    });
  }

  /** It may have to wait until a replica has room. */
  #arrive(traced: TraceRequest, index: number): void {
    const { admitter } = this.#router.features;
    const parsed = this.#maker.parse(traced);
    const ticket = new Ticket(`simulated-${index}`, DRAFT.method, this.#queue.now());
    const owner = {
      admitted: () => this.#route(traced, parsed, ticket, index),
      failed: () => this.#over(ticket, traced, false),
    };
    if (admitter?.isOn !== true) return owner.admitted();
    try {
      const place = admitter.enter({ ticket, incoming: { head: this.#maker.headOf(traced, index) } }, parsed, owner);
      if (place === undefined) owner.admitted();
    } catch {
      owner.failed();
    }
  }

  #route(traced: TraceRequest, parsed: ParsedBody, ticket: Ticket, index: number): void {
    const { config, services, pool } = this.#router;
    const { facts, load } = pool;
    const { random } = services;
    const request = this.#maker.make(traced, parsed, index, this.#router);
    const view = load.at(this.#queue.now());
    const { legs, faults } = this.#decide({ request, traced, facts, profile: config.profile, load: view, random });
    const [leg] = legs;
    if (leg === undefined || leg.order.length === 0) this.#open -= 1;
    else this.#forward(traced, request, leg, ticket, index);
    this.#recorder.decided(load.inFlight, this.replicas.length, faults.length > 0);
  }

  #forward(traced: TraceRequest, request: InferenceRequest, leg: Leg, ticket: Ticket, index: number): void {
    const { config, services, pool } = this.#router;
    const connections = ({ slot }: { slot: number }) => ({
      take: () => this.#upstreams[slot]!.connect(traced),
      takeSpare: () => undefined,
    });
    const parts = { services, pool: { ...pool, connections }, features: NO_FEATURES };
    ticket.request = request;
    const run = { ticket, config, response: makeClient(), incoming: INCOMING, buffer: NO_BUFFER, parts };
    const forward = new Forward(run, request, leg, DRAFT, {
      bodyDelivered() {},
      completed: () => this.#served(ticket, traced, this.#targets[index % this.#targets.length]!),
      failed: () => this.#over(ticket, traced, false),
      // Modelled replicas list every target.
      missedTarget: () => this.#over(ticket, traced, false),
    });
    forward.begin(this.#queue.now());
  }

  #served(ticket: Ticket, traced: TraceRequest, targets: SimulatedTargets): void {
    if (ticket.status < 300) this.#recorder.served(ticket, targets, this.#arrivalMs(traced), this.#queue.now());
    this.#over(ticket, traced, true);
  }

  #over(ticket: Ticket, traced: TraceRequest, isWhole: boolean): void {
    const { status, attempts } = ticket;
    this.#open -= 1;
    ticket.times.endedAtMs = this.#queue.now();
    this.#router.features.settled(ticket);
    this.#settings.ended?.(ticket, traced);
    this.#recorder.over(isWhole && status < 300, Math.max(0, attempts.length - 1));
  }

  #firstToken({ request, cachedTokens }: Job): void {
    this.#recorder.firstToken(this.#queue.now() - this.#arrivalMs(request), request.prompt.tokens, cachedTokens);
  }

  #arrivalMs({ atMs }: TraceRequest): number {
    return atMs * this.#settings.timeScale;
  }
}

/** Takes whatever comes, and waits for the end. */
const makeClient = () => ({
  hasStarted: false,
  start() {
    this.hasStarted = true;
  },
  write: () => true,
  flush() {},
  end() {},
  abort() {},
  holdBody() {},
});
