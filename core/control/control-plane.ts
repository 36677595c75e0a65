import type { Endpoint, EndpointSpec } from "../contract/endpoint.ts";
import type { Traffic } from "../state/traffic.ts";
import type { HttpGet } from "../wire/http-get-result.ts";
import type { HostServices, PluginSet } from "./plugin-set.ts";
import { PoolWatch, type PoolWatchOptions } from "./pool-watch.ts";
import { Prober } from "./readiness/prober.ts";
import type { Probes } from "./readiness/probes.ts";
import type { ProberHost } from "./readiness/replica-prober.ts";

export interface ControlPlaneOptions extends Omit<PoolWatchOptions, "detectors"> {
  readonly plugins: Pick<PluginSet, "discoveries" | "sources" | "detectors">;
  readonly probes: Probes;
  readonly services: HostServices;
  readonly get: HttpGet;
  /** Headers for probes of the endpoint of this name, such as a key. */
  readonly headersFor?: ProberHost["headersFor"];
  /** Capacity in tokens of the KV cache of this slot's replica; undefined when it is not known any more. */
  readonly capacityKnown: (slot: number, tokens: number | undefined) => void;
}

/** Makes facts from discovery, probes and traffic, and publishes them when they change. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #watch: PoolWatch;
  readonly #prober: Prober;
  #isStopped = false;

  constructor(options: ControlPlaneOptions) {
    const { plugins, probes, services, load, get, headersFor, capacityKnown } = options;
    this.#options = options;
    this.#watch = new PoolWatch({ ...options, detectors: plugins.detectors });
    this.#prober = new Prober({
      ...services,
      load,
      get,
      ...(headersFor && { headersFor }),
      capacityKnown,
      probes,
      sources: plugins.sources.map(({ plugin }) => plugin),
      changed: (name, health) => this.#watch.table.probed(name, health),
    });
  }

  /** Told of every exchange with an endpoint. */
  get traffic(): Traffic {
    return this.#watch.traffic;
  }

  /** Starts discovery and probing. Throws when a discovery can't start. */
  start(): void {
    this.#watch.start();
    const { table } = this.#watch;
    // Each discovery has its own list; together they are the pool.
    const { discoveries } = this.#options.plugins;
    const lists = new Map(discoveries.map(({ name }): [string, readonly EndpointSpec[]] => [name, []]));
    for (const { name, plugin } of discoveries) {
      plugin.start((specs) => {
        // What was asked before the stop may be answered after it.
        if (this.#isStopped) return;
        // A copy: the list is the plugin's own, and another discovery's news must not bring it up half changed.
        lists.set(name, [...specs]);
        table.discovered([...lists.values()].flat());
        this.#prober.watch(table.endpoints);
      });
    }
  }

  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number {
    return this.#watch.ejectionsOf(endpoint);
  }

  /** Whether so many endpoints fail that all that are up are used. */
  get isPanicking(): boolean {
    return this.#watch.isPanicking;
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
    this.#watch.stop();
    this.#isStopped = true;
    this.#prober.stop();
  }
}
