import type { Named } from "../active-config.ts";
import type { Detector } from "../contract/detector.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { EjectionSettings } from "../settings.ts";
import { EndpointRecords } from "../state/endpoint-records.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import { DEFAULT_RATE } from "../state/replica-speeds.ts";
import { type Traffic, UNWATCHED } from "../state/traffic.ts";
import { UNTOUCHED } from "./availability.ts";
import { Ejector, SWEEP_MS } from "./ejector.ts";
import { EndpointTable } from "./endpoint-table.ts";
import { Intents } from "./intents.ts";
import { PhaseTimes } from "./phase-times.ts";
import type { HostServices } from "./plugin-set.ts";
import { ReplicaLog } from "./replica-log.ts";
import { TrafficWatch } from "./traffic-watch.ts";

/** What the config says about ejections. */
export interface EjectionRules {
  readonly detectors: readonly Named<Detector>[];
  readonly ejection: EjectionSettings;
}

export interface PoolWatchOptions extends EjectionRules {
  readonly services: Pick<HostServices, "clock" | "random" | "log">;
  readonly load: LoadTable;
  /** Another process serves this slot now. */
  readonly replaced: (slot: number) => void;
  /** When the last byte came from the endpoint, on the router's clock; -Infinity before the first. */
  readonly lastByteMs: (endpoint: Endpoint) => number;
  /** Requests to the endpoint that have no byte of a response yet are given up. */
  readonly cutWaiting: (endpoint: Endpoint) => void;
  /** Why the endpoint's last probe failed; "" after a success. */
  readonly probeFailure: (endpoint: Endpoint) => string;
  /** Facts that decisions read have changed. */
  readonly publish: (facts: Facts) => void;
}

/** Connects the list of endpoints with the ejector, which watches the traffic: makes facts from both and publishes them. */
export class PoolWatch {
  readonly table: EndpointTable;
  /** What operators want of the endpoints. */
  readonly intents: Intents;
  readonly #options: PoolWatchOptions;
  readonly #phaseTimes = new PhaseTimes();
  readonly #replicaLog: ReplicaLog;
  /** Who or what ended an intent, while that is followed. */
  #intentCause = "";
  #rules: EjectionRules;
  /** Undefined while ejection is off. */
  #ejector: Ejector | undefined;
  #traffic: Traffic = UNWATCHED;
  /** Prompt tokens a millisecond. */
  #poolRate = DEFAULT_RATE;
  #stopSweeping: () => void = () => {};

  constructor(options: PoolWatchOptions) {
    const { services, load, replaced, publish } = options;
    this.#options = options;
    this.#rules = options;
    this.intents = new Intents(services.clock, (name, cause) => {
      this.#intentCause = cause;
      this.table.restand(name);
      this.#intentCause = "";
    });
    this.#replicaLog = new ReplicaLog({
      log: services.log,
      phaseSinceMs: (name) => this.#phaseTimes.sinceMs(name),
      intentOf: (name) => this.intents.of(name),
      probeFailure: options.probeFailure,
    });
    if (options.ejection.isOn) this.#turnOn();
    this.table = new EndpointTable({
      load,
      log: services.log,
      changed: (endpoints) => {
        const nowMs = services.clock.now();
        this.#tell(endpoints, nowMs);
        this.#phaseTimes.follow(endpoints, nowMs);
        this.#ejector?.follow(endpoints, nowMs);
        // Following them may have changed them again, and published that already.
        publish(factsOf(this.table.endpoints));
      },
      standingOf: (name) => ({ ...UNTOUCHED, ...this.#ejector?.standingOf(name), ...this.intents.standingOf(name) }),
      replaced,
    });
  }

  /** Examines the endpoints from now on. */
  start(): void {
    const { clock } = this.#options.services;
    this.#stopSweeping = clock.every(SWEEP_MS, () => this.#sweep(clock.now()));
  }

  /** Told of every exchange with an endpoint. */
  get traffic(): Traffic {
    return this.#traffic;
  }

  /**
   * Judges by these rules from now on; ejections under way keep their length. Where ejection is turned off, all that are out
   * return; where it is turned on, nothing is known of any endpoint yet.
   */
  useRules(rules: EjectionRules): void {
    const wasOn = this.#ejector !== undefined;
    this.#rules = rules;
    if (wasOn === rules.ejection.isOn) return;
    if (wasOn) this.#turnOff();
    else this.#turnOn();
    const { endpoints } = this.table;
    this.#ejector?.follow(endpoints, this.#options.services.clock.now());
    for (const { name } of endpoints) this.table.restand(name);
  }

  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number {
    return this.#ejector?.ejectionsOf(endpoint.name) ?? 0;
  }

  /** Since when the endpoint has been in its phase, on the router's clock; NaN if it is not listed. */
  phaseSinceMs({ name }: Endpoint): number {
    return this.#phaseTimes.sinceMs(name);
  }

  /** Whether so many endpoints fail that all that are up are used. */
  get isPanicking(): boolean {
    return this.#ejector?.isPanicking ?? false;
  }

  stop(): void {
    this.#stopSweeping();
    this.intents.close();
  }

  /** First of all who follow, since the others may change the list. An embedder's log may throw: the pool goes on without it. */
  #tell(endpoints: readonly Endpoint[], nowMs: number): void {
    try {
      this.#replicaLog.follow(endpoints, nowMs, this.#intentCause);
    } catch {
      // There is nowhere to report it.
    }
  }

  #turnOn(): void {
    const records = new EndpointRecords();
    const ejector = this.#makeEjector(records);
    this.#ejector = ejector;
    this.#traffic = new TrafficWatch({ records, ejector, poolRate: () => this.#poolRate });
  }

  #turnOff(): void {
    this.#ejector = undefined;
    this.#traffic = UNWATCHED;
  }

  #makeEjector(records: EndpointRecords): Ejector {
    const { services, load, lastByteMs, cutWaiting } = this.#options;
    const rules = () => this.#rules;
    return new Ejector({
      get settings() {
        return rules().ejection;
      },
      get detectors() {
        return rules().detectors;
      },
      records,
      random: services.random,
      log: services.log,
      isHealthy: (name) => this.table.isHealthy(name),
      workAheadMs: ({ slot }, nowMs) => load.remainingPrefill(slot, nowMs) / load.prefillRate(slot, nowMs),
      lastByteMs,
      changed: (name) => this.table.restand(name),
      cutWaiting,
    });
  }

  #sweep(nowMs: number): void {
    this.#poolRate = medianRate(this.table.endpoints, this.#options.load, nowMs);
    this.#ejector?.sweep(nowMs);
  }
}

/** The median of the endpoints' measured speeds, in prompt tokens a millisecond. */
function medianRate(endpoints: readonly Endpoint[], load: LoadTable, nowMs: number): number {
  const rates = endpoints.map(({ slot }) => load.prefillRate(slot, nowMs)).sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? DEFAULT_RATE;
}
