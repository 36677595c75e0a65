import type { LoadedConfig } from "../../config/load.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { silentLog } from "../contract/log.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { seededRandom } from "../contract/test-kit.ts";
import { decide } from "../pipeline.ts";
import { tellChosen } from "../stages/tell-chosen.ts";
import { Claim } from "../state/claim.ts";
import { EventQueue } from "./events.ts";
import { type Metrics, Recorder } from "./metrics.ts";
import { Job, Replica, type ReplicaModel } from "./replica.ts";
import { RequestMaker } from "./request-maker.ts";
import { makeRouterSide, type RouterSide } from "./router-side.ts";
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

/** One request on its way. */
interface Sent {
  readonly request: InferenceRequest;
  readonly claim: Claim;
  readonly atMs: number;
}

/** Replays a trace against modelled replicas; every request is parsed, decided and claimed by the router's own code. */
export class Simulation {
  readonly replicas: readonly Replica[];
  readonly #trace: Trace;
  readonly #settings: SimulationSettings;
  readonly #queue = new EventQueue();
  readonly #router: RouterSide;
  readonly #maker: RequestMaker;
  readonly #recorder = new Recorder();
  readonly #sent = new Map<Job, Sent>();
  /** Requests that are neither answered nor refused. */
  #open: number;

  constructor(trace: Trace, loaded: LoadedConfig, settings: SimulationSettings) {
    const { replicas, seed, speeds, tokenError } = settings;
    this.#trace = trace;
    this.#settings = settings;
    this.#open = trace.requests.length;
    this.#router = makeRouterSide({ trace, loaded, replicas, seed, clock: this.#queue });
    this.#maker = new RequestMaker(trace, tokenError, seededRandom(seed ^ 0x5eed));
    this.replicas = Array.from({ length: replicas }, (_, index) => this.#makeReplica(speeds[index] ?? 1));
    scrape(this.#router, this.replicas, this.#queue, seededRandom(seed ^ 0x5c4a9e));
  }

  /** Runs to the last answer. `progress` is told the share of requests that are over. */
  run(progress: (share: number) => void = () => {}): Metrics {
    const total = this.#trace.requests.length;
    this.#arriveFrom(0);
    while (this.#open > 0) {
      if (!this.#queue.runNext()) throw new Error("The simulation came to a stop with requests under way");
      if (this.#open % REPORT_EVERY === 0) progress(1 - this.#open / total);
    }
    this.#router.dispose();
    const busyMs = this.replicas.reduce((sum, replica) => sum + replica.busyMs, 0);
    return this.#recorder.metrics(total, busyMs / (this.#queue.now() * this.replicas.length || 1));
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
    const { profile, facts, load, random } = this.#router;
    const request = this.#maker.make(traced, index, this.#router);
    const decision = decide(request, facts, profile, load.at(this.#queue.now()), random);
    const endpoint = decision.legs[0]?.order[0];
    if (endpoint !== undefined) this.#send(traced, request, endpoint);
    else this.#open -= 1;
    this.#recorder.decided(load.inFlight, this.replicas.length, decision.faults.length > 0);
  }

  #send(traced: TraceRequest, request: InferenceRequest, endpoint: Endpoint): void {
    const { profile, load, prefixIndex } = this.#router;
    const claim = new Claim(request, endpoint, load, prefixIndex);
    tellChosen(profile, request, endpoint, silentLog);
    const job = new Job(traced);
    this.#sent.set(job, { request, claim, atMs: this.#queue.now() });
    if (this.replicas[endpoint.slot]!.enqueue(job)) return;
    claim.withdraw();
    this.#over(job, claim);
  }

  #makeReplica(speed: number): Replica {
    return new Replica(this.#settings.model, speed, this.#queue, {
      firstToken: (job) => {
        const { claim, atMs } = this.#sent.get(job)!;
        claim.firstByte();
        this.#recorder.firstToken(this.#queue.now() - atMs, job.request.prompt.tokens, job.cachedTokens);
      },
      finished: (job) => {
        const { request, claim } = this.#sent.get(job)!;
        this.#router.tokenScale.learn(request.api, request.parsedTokens, job.request.prompt.tokens);
        claim.generated(job.request.outputTokens);
        this.#over(job, claim);
        this.#recorder.completed();
      },
      decoded: (batch, steps, stepMs) => this.#recorder.decoded(batch * steps, stepMs),
    });
  }

  #over(job: Job, claim: Claim): void {
    claim.release();
    this.#sent.delete(job);
    this.#open -= 1;
  }
}
