import type { Endpoint, EndpointSpec } from "../contract/endpoint.ts";
import type { Probes } from "../control/readiness/probes.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import type { HttpGet } from "../wire/http-get-result.ts";
import { EndpointTable } from "./endpoint-table.ts";
import type { HostServices, PluginSet } from "./plugin-set.ts";
import { Prober } from "./readiness/prober.ts";

export interface ControlPlaneOptions {
  readonly plugins: Pick<PluginSet, "discoveries" | "sources">;
  readonly probes: Probes;
  readonly services: HostServices;
  readonly load: LoadTable;
  readonly get: HttpGet;
  /** Another process serves this slot now. */
  readonly replaced: (slot: number) => void;
  /** Capacity in tokens of the KV cache of this slot's replica; undefined when it is not known any more. */
  readonly capacityKnown: (slot: number, tokens: number | undefined) => void;
  /** Facts that decisions read have changed. */
  readonly publish: (facts: Facts) => void;
}

/** Makes facts from discovery and probes, and publishes them when they change. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #table: EndpointTable;
  readonly #prober: Prober;
  #isStopped = false;

  constructor(options: ControlPlaneOptions) {
    const { plugins, probes, services, load, get, replaced, capacityKnown, publish } = options;
    this.#options = options;
    this.#table = new EndpointTable({
      load,
      log: services.log,
      changed: (endpoints) => publish(factsOf(endpoints)),
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
    this.#isStopped = true;
    this.#prober.stop();
  }
}
