import type { LoadedConfig } from "../../config/load.ts";
import { type Snapshot, servedModels } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadTable } from "../state/load.ts";
import type { HttpGet } from "../wire/http-get-result.ts";
import { EndpointTable } from "./endpoint-table.ts";
import { buildPluginSet, type HostServices, type PluginSet } from "./plugin-set.ts";
import { Prober } from "./readiness/prober.ts";

export interface ControlPlaneOptions {
  readonly loaded: LoadedConfig;
  readonly world: HostServices;
  readonly load: LoadTable;
  readonly get: HttpGet;
  /** Another process stands behind this slot, or none any more. */
  readonly replaced: (slot: number) => void;
  /** How many tokens the KV cache behind this slot holds; undefined when that is not known any more. */
  readonly capacityKnown: (slot: number, tokens: number | undefined) => void;
  /** Something a decision reads has changed. */
  readonly publish: (snapshot: Snapshot) => void;
}

/** Builds snapshots from the config, discovery and probes; publishes a first one, without endpoints, at once. */
export class ControlPlane {
  readonly built: PluginSet;
  readonly #options: ControlPlaneOptions;
  readonly #stopping = new AbortController();
  readonly #table: EndpointTable;
  readonly #prober: Prober;

  constructor(options: ControlPlaneOptions) {
    const { loaded, world, load } = options;
    this.#options = options;
    this.built = buildPluginSet(loaded, world, this.#stopping.signal);
    this.#table = new EndpointTable({
      load,
      log: world.log,
      changed: (endpoints) => this.#publish(endpoints),
      replaced: options.replaced,
    });
    this.#prober = new Prober({
      ...world,
      load,
      get: options.get,
      capacityKnown: options.capacityKnown,
      probes: loaded.config.pool.probes,
      sources: this.built.sources.map(({ plugin }) => plugin),
      changed: (name, health) => this.#table.probed(name, health),
    });
    this.#publish([]);
  }

  /** Begins discovery and probing. */
  start(): void {
    // Each discovery has its own list; together they are the pool.
    const lists = new Map(this.built.discoveries.map(({ name }) => [name, [] as Parameters<EndpointTable["discovered"]>[0]]));
    for (const { name, plugin } of this.built.discoveries) {
      plugin.start((specs) => {
        lists.set(name, specs);
        this.#table.discovered([...lists.values()].flat());
        this.#prober.watch(this.#table.endpoints);
      });
    }
  }

  /** A routed request could not connect to the endpoint. */
  connectFailed(endpoint: Endpoint): void {
    this.#prober.connectFailed(endpoint);
  }

  /** What the endpoint's last probe failed with; "" after a success. */
  probeFailure(endpoint: Endpoint): string {
    const health = this.#prober.healthOf(endpoint);
    return health?.readinessFailure || health?.livenessFailure || "";
  }

  stop(): void {
    this.#stopping.abort();
    this.#prober.stop();
  }

  #publish(endpoints: readonly Endpoint[]): void {
    this.#options.publish({ ...this.built.active, endpoints, served: servedModels(endpoints) });
  }
}
