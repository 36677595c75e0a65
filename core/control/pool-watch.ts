import type { Named } from "../active-config.ts";
import type { Detector } from "../contract/detector.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { EjectionSettings } from "../settings.ts";
import { EndpointRecords } from "../state/endpoint-records.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import { DEFAULT_RATE } from "../state/prefill-queue.ts";
import { type Traffic, UNWATCHED } from "../state/traffic.ts";
import { UNTOUCHED } from "./availability.ts";
import { Ejector } from "./ejector.ts";
import { EndpointTable } from "./endpoint-table.ts";
import type { HostServices } from "./plugin-set.ts";
import { TrafficWatch } from "./traffic-watch.ts";

export interface PoolWatchOptions {
  readonly detectors: readonly Named<Detector>[];
  readonly ejection: EjectionSettings;
  readonly services: Pick<HostServices, "clock" | "random" | "log">;
  readonly load: LoadTable;
  /** Another process serves this slot now. */
  readonly replaced: (slot: number) => void;
  /** When the last byte came from the endpoint, on the router's clock; -Infinity before the first. */
  readonly lastByteMs: (endpoint: Endpoint) => number;
  /** Requests to the endpoint that have no byte of a response yet are given up. */
  readonly cutWaiting: (endpoint: Endpoint) => void;
  /** Facts that decisions read have changed. */
  readonly publish: (facts: Facts) => void;
}

/** How often endpoints are examined without an event. */
const SWEEP_MS = 500;

/** Connects the list of endpoints with the ejector, which watches the traffic: makes facts from both and publishes them. */
export class PoolWatch {
  readonly table: EndpointTable;
  /** Told of every exchange with an endpoint. */
  readonly traffic: Traffic;
  readonly #options: PoolWatchOptions;
  readonly #ejector: Ejector | undefined;
  /** Prompt tokens a millisecond. */
  #poolRate = DEFAULT_RATE;
  #stopSweeping: () => void = () => {};

  constructor(options: PoolWatchOptions) {
    const { ejection, services, load, replaced, publish } = options;
    this.#options = options;
    const records = new EndpointRecords();
    this.#ejector = ejection.isOn ? this.#makeEjector(records) : undefined;
    this.traffic =
      this.#ejector === undefined
        ? UNWATCHED
        : new TrafficWatch({ clock: services.clock, records, ejector: this.#ejector, poolRate: () => this.#poolRate });
    this.table = new EndpointTable({
      load,
      log: services.log,
      changed: (endpoints) => {
        this.#ejector?.follow(endpoints, services.clock.now());
        publish(factsOf(endpoints));
      },
      standingOf: (name) => ({ ...UNTOUCHED, ...this.#ejector?.standingOf(name) }),
      replaced,
    });
  }

  /** Examines the endpoints from now on. */
  start(): void {
    const { clock } = this.#options.services;
    this.#stopSweeping = clock.every(SWEEP_MS, () => this.#sweep(clock.now()));
  }

  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number {
    return this.#ejector?.ejectionsOf(endpoint.name) ?? 0;
  }

  /** Whether so many endpoints fail that all that are up are used. */
  get isPanicking(): boolean {
    return this.#ejector?.isPanicking ?? false;
  }

  stop(): void {
    this.#stopSweeping();
  }

  #makeEjector(records: EndpointRecords): Ejector {
    const { detectors, ejection, services, load, lastByteMs, cutWaiting } = this.#options;
    return new Ejector({
      settings: ejection,
      detectors,
      records,
      random: services.random,
      log: services.log,
      isHealthy: (name) => this.table.isHealthy(name),
      workAheadMs: ({ slot }, nowMs) => load.remainingPrefill(slot, nowMs) / load.prefillRate(slot),
      lastByteMs,
      changed: (name) => this.table.restand(name),
      cutWaiting,
    });
  }

  #sweep(nowMs: number): void {
    this.#poolRate = medianRate(this.table.endpoints, this.#options.load);
    this.#ejector?.sweep(nowMs);
  }
}

/** The median of the endpoints' measured speeds, in prompt tokens a millisecond. */
function medianRate(endpoints: readonly Endpoint[], load: LoadTable): number {
  const rates = endpoints.map(({ slot }) => load.prefillRate(slot)).sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? DEFAULT_RATE;
}
