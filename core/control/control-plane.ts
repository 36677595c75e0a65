import type { Endpoint, EndpointSpec } from "../contract/endpoint.ts";
import type { EjectionSettings } from "../settings.ts";
import { EndpointRecords } from "../state/endpoint-records.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import { DEFAULT_RATE } from "../state/prefill-queue.ts";
import { type Traffic, UNWATCHED } from "../state/traffic.ts";
import type { HttpGet } from "../wire/http-get-result.ts";
import { UNTOUCHED } from "./availability.ts";
import { Ejector } from "./ejector.ts";
import { EndpointTable } from "./endpoint-table.ts";
import type { HostServices, PluginSet } from "./plugin-set.ts";
import { Prober } from "./readiness/prober.ts";
import type { Probes } from "./readiness/probes.ts";
import { TrafficWatch } from "./traffic-watch.ts";

export interface ControlPlaneOptions {
  readonly plugins: Pick<PluginSet, "discoveries" | "sources" | "detectors">;
  readonly ejection: EjectionSettings;
  readonly probes: Probes;
  readonly services: HostServices;
  readonly load: LoadTable;
  readonly get: HttpGet;
  /** Another process serves this slot now. */
  readonly replaced: (slot: number) => void;
  /** Capacity in tokens of the KV cache of this slot's replica; undefined when it is not known any more. */
  readonly capacityKnown: (slot: number, tokens: number | undefined) => void;
  /** When the last byte came from the endpoint, on the router's clock; -Infinity before the first. */
  readonly lastByteMs: (endpoint: Endpoint) => number;
  /** Requests to the endpoint that have no byte of a response yet are given up. */
  readonly cutWaiting: (endpoint: Endpoint) => void;
  /** Facts that decisions read have changed. */
  readonly publish: (facts: Facts) => void;
}

/** How often endpoints are examined without an event. */
const SWEEP_MS = 500;

/** Makes facts from discovery, probes and traffic, and publishes them when they change. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #table: EndpointTable;
  readonly #prober: Prober;
  readonly #ejector: Ejector | undefined;
  /** Prompt tokens a millisecond. */
  #poolRate = DEFAULT_RATE;
  #stopSweeping: () => void = () => {};
  /** Told of every exchange with an endpoint. */
  readonly traffic: Traffic;
  #isStopped = false;

  constructor(options: ControlPlaneOptions) {
    const { plugins, probes, ejection, services, load, get, replaced, capacityKnown, publish } = options;
    this.#options = options;
    const records = new EndpointRecords();
    this.#ejector = ejection.isOn ? this.#makeEjector(records) : undefined;
    this.traffic =
      this.#ejector === undefined
        ? UNWATCHED
        : new TrafficWatch({ clock: services.clock, records, ejector: this.#ejector, poolRate: () => this.#poolRate });
    this.#table = new EndpointTable({
      load,
      log: services.log,
      changed: (endpoints) => {
        this.#ejector?.follow(endpoints, services.clock.now());
        publish(factsOf(endpoints));
      },
      standingOf: (name) => ({ ...UNTOUCHED, ...this.#ejector?.standingOf(name) }),
      replaced,
    });
    this.#prober = new Prober({
      ...services,
      load,
      get,
      capacityKnown,
      probes,
      sources: plugins.sources.map(({ plugin }) => plugin),
      changed: (name, health) => this.#table.probed(name, health),
    });
  }

  /** Starts discovery and probing. Throws when a discovery can't start. */
  start(): void {
    const { discoveries } = this.#options.plugins;
    const { clock } = this.#options.services;
    this.#stopSweeping = clock.every(SWEEP_MS, () => this.#sweep(clock.now()));
    // Each discovery has its own list; together they are the pool.
    const lists = new Map(discoveries.map(({ name }): [string, readonly EndpointSpec[]] => [name, []]));
    for (const { name, plugin } of discoveries) {
      plugin.start((specs) => {
        // What was asked before the stop may be answered after it.
        if (this.#isStopped) return;
        // A copy: the list is the plugin's own, and another discovery's news must not bring it up half changed.
        lists.set(name, [...specs]);
        this.#table.discovered([...lists.values()].flat());
        this.#prober.watch(this.#table.endpoints);
      });
    }
  }

  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number {
    return this.#ejector?.ejectionsOf(endpoint.name) ?? 0;
  }

  /** Whether so many endpoints fail that all that are up are used. */
  get isPanicking(): boolean {
    return this.#ejector?.isPanicking ?? false;
  }

  /** A routed request could not connect to the endpoint. */
  connectFailed(endpoint: Endpoint): void {
    this.#prober.connectFailed(endpoint);
  }

  /** Why the endpoint's last probe failed; "" after a success. */
  probeFailure(endpoint: Endpoint): string {
    const health = this.#prober.healthOf(endpoint);
    return health?.readinessFailure || health?.livenessFailure || "";
  }

  stop(): void {
    this.#stopSweeping();
    this.#isStopped = true;
    this.#prober.stop();
  }

  #makeEjector(records: EndpointRecords): Ejector {
    const { plugins, ejection, services, load, lastByteMs, cutWaiting } = this.#options;
    return new Ejector({
      settings: ejection,
      detectors: plugins.detectors,
      records,
      random: services.random,
      log: services.log,
      isHealthy: (name) => this.#table.isHealthy(name),
      workAheadMs: ({ slot }, nowMs) => load.remainingPrefill(slot, nowMs) / load.prefillRate(slot),
      lastByteMs,
      changed: (name) => this.#table.restand(name),
      cutWaiting,
    });
  }

  #sweep(nowMs: number): void {
    this.#poolRate = medianRate(this.#table.endpoints, this.#options.load);
    this.#ejector?.sweep(nowMs);
  }
}

/** The median of the endpoints' measured speeds, in prompt tokens a millisecond. */
function medianRate(endpoints: readonly Endpoint[], load: LoadTable): number {
  const rates = endpoints.map(({ slot }) => load.prefillRate(slot)).sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? DEFAULT_RATE;
}
