import type { LoadedConfig } from "../../../config/load.ts";
import type { Decision } from "../../../core/contract/decision.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { ForwardOwner, Sending } from "../../../core/contract/slots/send.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { Forward } from "../../../core/forward/forward.ts";
import { admit } from "../../../core/pipeline.ts";
import type { Run } from "../../../core/run.ts";
import type { Ticket } from "../../../core/ticket.ts";
import type { AdapterTimes } from "../engine/adapter-slots.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import { type Arrivals, OpenArrivals } from "./arrivals.ts";
import type { CacheEventSettings } from "./cache-events.ts";
import { EventQueue } from "./events.ts";
import { type Decider, type DeciderOf, decideAsAsked } from "./exact-state.ts";
import { conductAt, type Fault, faultsOf, nextChangeMs, type TimedFault } from "./faults.ts";
import type { Job } from "./job.ts";
import { type Metrics, Recorder, type SimulatedTargets } from "./metrics.ts";
import { type CarrierSettings, modelledCarrier } from "./modelled-carrier.ts";
import { modelledEngines, publishers } from "./modelled-engines.ts";
import type { Replica } from "./replica.ts";
import { RequestMaker } from "./request-maker.ts";
import { makeRouterSide, type RouterSide, replicaName } from "./router-side.ts";
import { SessionArrivals, type SessionLoop } from "./session-arrivals.ts";
import type { SessionFigures } from "./session-meter.ts";
import type { Trace, TraceRequest } from "./trace.ts";
import { Transfers } from "./transfers.ts";
import { Upstream } from "./upstream.ts";

export interface SimulationSettings {
  readonly replicas: number;
  readonly model: EngineTimes;
  /** The trace's models are adapters, which replicas hold so; absent: each replica has them all. */
  readonly adapters?: AdapterTimes;
  /** How many of the replicas compute prompts for the others; absent: the config's labels say what each does. */
  readonly prefillers?: number;
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
  /** Keeps so many of the trace's sessions under way; absent: they begin as they were recorded. */
  readonly sessions?: SessionLoop;
  /** Replicas say in their responses how many of a prompt's tokens they had cached. */
  readonly reportsCached?: boolean;
  /** Replicas publish what their caches hold, to routers whose config has `kvEvents`; absent: they publish nothing. */
  readonly cacheEvents?: CacheEventSettings | undefined;
  /** Requests go to so many routers in turn; absent: one. */
  readonly routers?: number;
  /** By what they agree, where the config says that they do. */
  readonly carrier?: CarrierSettings;
  /** Is told of every request that is over. */
  readonly ended?: (ticket: Ticket, request: TraceRequest) => void;
}

/** Sessions have figures of their own. */
export type SimulationMetrics = Metrics & Partial<SessionFigures> & { readonly adapterLoads?: number };

/** Events between two reports of progress. */
const REPORT_EVERY = 1_024;
/** A store of the same data centre. */
const USUAL_CARRIER: CarrierSettings = { delayMs: 1, loss: 0 };
/** Between the seeds of the routers of one run, which draw apart from each other. */
const SEED_STEP = 7_919;
const HOUR_MS = 3_600_000;
const NO_TARGETS: SimulatedTargets = { ttftMs: Number.POSITIVE_INFINITY, tpotMs: Number.POSITIVE_INFINITY };
/** How often requests that wait are looked at. */
const SWEEP_MS = 250;
/** Nothing is written to a wire; the query says which request it is. */
const DRAFT = { method: "POST", pathAndQuery: "", lines: "", credentialLines: "", body: [], changedBy: [] };

/** Replays a trace against modelled replicas; every request is parsed, decided and forwarded by the router's own code. */
export class Simulation {
  readonly replicas: readonly Replica[];
  readonly #arrivals: Arrivals;
  readonly #settings: SimulationSettings;
  readonly #queue = new EventQueue();
  readonly #upstreams: readonly Upstream[];
  /** Requests go to them in turn. */
  readonly #routers: readonly RouterSide[];
  readonly #maker: RequestMaker;
  #recorder: Recorder;
  /** What replicas had computed, and the time, when measuring began. */
  #warmUp = { busyMs: 0, endMs: 0 };
  readonly #decide: Decider;
  readonly #targets: readonly SimulatedTargets[];

  /** `deciderOf`: what decides the requests; by default the router's own code with what a router knows. */
  constructor(trace: Trace, loaded: LoadedConfig, settings: SimulationSettings, deciderOf: DeciderOf = () => decideAsAsked) {
    const {
      replicas,
      model,
      adapters,
      seed,
      speeds,
      tokenError,
      faults,
      targets = [NO_TARGETS],
      reportsCached = false,
    } = settings;
    this.#settings = settings;
    this.#arrivals = arrivalsOf(trace, settings, this.#queue);
    this.#targets = targets;
    const events = {
      firstToken: (job: Job) => this.#firstToken(job),
      decoded: (batch: number, steps: number, stepMs: number) => this.#recorder.decoded(batch * steps, stepMs),
    };
    const transfers = new Transfers(this.#queue, model);
    const common = { model, adapters, requests: this.#arrivals.requests, queue: this.#queue, transfers, events, reportsCached };
    const published = settings.cacheEvents && publishers(settings, settings.cacheEvents, this.#queue);
    this.#upstreams = Array.from({ length: replicas }, (_, at) => {
      const name = replicaName(at);
      return new Upstream({ ...common, name, speed: speeds[at] ?? 1, cacheEvents: published?.get(name) });
    });
    this.replicas = this.#upstreams.map(({ replica }) => replica);
    this.#decide = deciderOf(this.#upstreams);
    const hasFaults = faults.length > 0;
    const { routers = 1, carrier = USUAL_CARRIER, prefillers } = settings;
    const shared = modelledCarrier(carrier, this.#queue, seededRandom(seed ^ 0xca44));
    const engines = published && modelledEngines(published, this.#queue);
    const side = {
      trace,
      loaded,
      upstreams: this.#upstreams,
      clock: this.#queue,
      hasFaults,
      carrier: shared,
      engines,
      prefillers,
      maxLoras: adapters?.maxLoras ?? 0,
    };
    this.#routers = Array.from({ length: routers }, (_, at) => makeRouterSide({ ...side, seed: seed + SEED_STEP * at }));
    this.#recorder = this.#newRecorder();
    this.#maker = new RequestMaker(trace, { tokenError, targets }, seededRandom(seed ^ 0x5eed));
    if (hasFaults) this.#startFaults(faults);
  }

  /** Runs until every request is over, or the time of a closed loop. `progress` is told the share of it that is done. */
  run(progress: (share: number) => void = () => {}): SimulationMetrics {
    const { sessions } = this.#settings;
    if (sessions !== undefined) this.#queue.at(sessions.warmUpHours * HOUR_MS, () => this.#beginMeasuring());
    this.#arrivals.start((index) => this.#arrive(index));
    for (let events = 1; !this.#arrivals.isOver; events++) {
      if (!this.#queue.runNext()) throw new Error("The simulation came to a stop with requests under way");
      if (events % REPORT_EVERY === 0) progress(this.#arrivals.share);
    }
    for (const router of this.#routers) router.dispose();
    const busyMs = this.#busyMs() - this.#warmUp.busyMs;
    const measuredMs = this.#queue.now() - this.#warmUp.endMs;
    const utilization = busyMs / (measuredMs * this.replicas.length || 1);
    const seconds = (this.#arrivals.lastMs || measuredMs) / 1000;
    const metrics = this.#recorder.metrics(this.#arrivals.counted, utilization, this.#ejections(), seconds);
    const adapterLoads = this.replicas.reduce((sum, replica) => sum + replica.adapterLoads, 0);
    return { ...metrics, ...this.#arrivals.figures(), ...(this.#settings.adapters && { adapterLoads }) };
  }

  /** Of the run so far; see `Recorder.ttftCurve`. */
  ttftCurve(): readonly number[] {
    return this.#recorder.ttftCurve();
  }

  #newRecorder(): Recorder {
    return new Recorder({ targets: this.#settings.targets !== undefined, pairs: this.#routerOf(0).config.slots.plan.length > 0 });
  }

  #routerOf(index: number): RouterSide {
    return this.#routers[index % this.#routers.length]!;
  }

  /** Of each replica, by any of the routers. */
  #ejections(): readonly number[] {
    const all = this.#routers.map((router) => router.ejections());
    return all[0]!.map((_, slot) => all.reduce((sum, counts) => sum + counts[slot]!, 0));
  }

  #busyMs(): number {
    return this.replicas.reduce((sum, replica) => sum + replica.busyMs, 0);
  }

  #beginMeasuring(): void {
    this.#recorder = this.#newRecorder();
    this.#warmUp = { busyMs: this.#busyMs(), endMs: this.#queue.now() };
  }

  #startFaults(faults: readonly Fault[]): void {
    for (const [index, upstream] of this.#upstreams.entries()) {
      this.#behave(upstream, faultsOf(index, faults, this.#settings.timeScale));
    }
    this.#queue.every(SWEEP_MS, () => this.#routers[0]!.sweep());
  }

  /** As its faults want it now, and from their next change on. */
  #behave(upstream: Upstream, faults: readonly TimedFault[]): void {
    const nowMs = this.#queue.now();
    upstream.behave(conductAt(faults, nowMs));
    const nextMs = nextChangeMs(faults, nowMs);
    if (nextMs < Number.POSITIVE_INFINITY) this.#queue.at(nextMs, () => this.#behave(upstream, faults));
  }

  /** It may have to wait until a replica has room. */
  #arrive(index: number): void {
    const traced = this.#arrivals.requests[index]!;
    const run = this.#maker.run(traced, index, this.#routerOf(index));
    const owner = {
      admitted: () => (admit(run, owner) === undefined ? this.#route(traced, run, index) : undefined),
      failed: () => this.#over(run.ticket, index, false),
    };
    try {
      owner.admitted();
    } catch {
      owner.failed();
    }
  }

  #route(traced: TraceRequest, run: Run, index: number): void {
    const { config, parts } = this.#routerOf(index);
    const { facts, load } = run.pool;
    const { random } = parts.services;
    const request = this.#maker.make(traced, run);
    const view = load.at(this.#queue.now());
    const { slots, profile } = config;
    const decision = this.#decide({ request, traced, facts, slots, profile, load: view, random });
    const [leg] = decision.legs;
    run.ticket.request = request;
    run.ticket.decision = decision;
    if (leg === undefined || leg.order.length === 0) this.#arrivals.ended(index);
    else {
      this.#sending(request, decision, run, index).begin(this.#queue.now());
      for (const feature of this.#routerOf(index).met) feature.copy?.(run, request, () => decision);
    }
    this.#recorder.decided(load.inFlight, this.replicas.length, decision.faults.length > 0);
  }

  /** Pairs of replicas are sent to by the feature that planned them. */
  #sending(request: InferenceRequest, { legs }: Decision, run: Run, index: number): Sending {
    const { ticket, config } = run;
    const owner: ForwardOwner = {
      bodyDelivered() {},
      completed: () => this.#served(ticket, index),
      failed: () => this.#over(ticket, index, false),
      unreached: () => this.#over(ticket, index, false),
      // Modelled replicas list every target.
      missedTarget: () => this.#over(ticket, index, false),
    };
    const [sender] = legs.length > 1 ? config.slots.send : [];
    const draft = { ...DRAFT, pathAndQuery: `?${index}` };
    return sender?.plugin.send(run, owner) ?? new Forward(run, request, legs[0]!, draft, owner);
  }

  #served(ticket: Ticket, index: number): void {
    const targets = this.#targets[index % this.#targets.length]!;
    const arrivedMs = this.#arrivalMs(this.#arrivals.requests[index]!);
    if (ticket.status < 300) this.#recorder.served(ticket, targets, arrivedMs, this.#queue.now());
    this.#over(ticket, index, true);
  }

  #over(ticket: Ticket, index: number, isWhole: boolean): void {
    const { status, attempts } = ticket;
    ticket.times.endedAtMs = this.#queue.now();
    for (const feature of this.#routerOf(index).met) feature.settled?.(ticket);
    this.#settings.ended?.(ticket, this.#arrivals.requests[index]!);
    this.#recorder.over(isWhole && status < 300, Math.max(0, attempts.length - 1));
    this.#arrivals.ended(index);
  }

  #firstToken({ request, foundTokens }: Job): void {
    this.#recorder.firstToken(this.#queue.now() - this.#arrivalMs(request), request.prompt.tokens, foundTokens);
  }

  #arrivalMs({ atMs }: TraceRequest): number {
    return atMs * this.#settings.timeScale;
  }
}

function arrivalsOf(trace: Trace, settings: SimulationSettings, clock: EventQueue): Arrivals {
  const { timeScale, model, seed, replicas, sessions: loop } = settings;
  if (!trace.requests.some(({ turn }) => turn !== undefined)) return new OpenArrivals(trace.requests, clock, timeScale);
  return new SessionArrivals({ trace, clock, timeScale, model, seed, replicas, loop });
}
