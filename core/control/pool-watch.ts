import type { Endpoint } from "../contract/endpoint.ts";
import type { EndpointJudge, JudgeRules, MakeJudge, ProbesView } from "../judge.ts";
import type { TriesView } from "../pool/tries-view.ts";
import type { Services } from "../services.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import { EndpointTable } from "./endpoint-table.ts";
import { Intents } from "./intents.ts";
import { ReplicaLog } from "./replica-log.ts";

/** A pool that is watched, and who is told what becomes of it. */
export interface WatchedPool {
  readonly services: Services;
  readonly load: LoadTable;
  readonly tries: TriesView;
  readonly makeJudge: MakeJudge;
  /** Another process serves this slot now. */
  readonly replaced: (slot: number) => void;
  /** Facts that decisions read have changed. */
  readonly publish: (facts: Facts) => void;
}

interface PoolWatchOptions extends WatchedPool, JudgeRules, ProbesView {
  /** Why the endpoint's last probe failed; "" after a success. */
  readonly probeFailure: (endpoint: Endpoint) => string;
}

/** Connects the list of endpoints with the operator's intents and the judge's verdicts: makes facts of all of them and publishes them. */
export class PoolWatch {
  readonly table: EndpointTable;
  /** What operators want of the endpoints. */
  readonly intents: Intents;
  readonly judge: EndpointJudge;
  readonly replicaLog: ReplicaLog;
  /** Who or what ended an intent, while that is followed. */
  #intentCause = "";
  #stopExamining: () => void = () => {};

  constructor(options: PoolWatchOptions) {
    const { services, load, replaced, publish } = options;
    this.intents = new Intents(services.clock, (name, cause) => {
      this.#intentCause = cause;
      this.table.restand(name);
      this.table.publish();
      this.#intentCause = "";
    });
    this.replicaLog = new ReplicaLog({
      log: services.log,
      intentOf: (name) => this.intents.of(name),
      probeFailure: options.probeFailure,
    });
    this.judge = options.makeJudge({
      ...options,
      isHealthy: (name) => this.table.isHealthy(name),
      changed: (name) => this.table.restand(name),
    });
    this.table = new EndpointTable({
      load,
      log: services.log,
      changed: (endpoints) => {
        const nowMs = services.clock.now();
        this.#tell(endpoints, nowMs);
        this.judge.follow(endpoints, nowMs);
        publish(factsOf(endpoints));
      },
      standingOf: (name) => ({ ...this.judge.standingOf(name), ...this.intents.standingOf(name) }),
      replaced,
    });
  }

  /** Examines the endpoints from now on. */
  start(): void {
    this.#stopExamining = this.judge.start();
  }

  stop(): void {
    this.#stopExamining();
    this.intents.close();
  }

  /** The log follows first, because the other listeners may change the list. An embedder's log may throw: the pool goes on without it. */
  #tell(endpoints: readonly Endpoint[], nowMs: number): void {
    try {
      this.replicaLog.follow(endpoints, nowMs, this.#intentCause);
    } catch {
      // There is nowhere to report it.
    }
  }
}
