import type { Endpoint, EndpointSpec } from "../contract/endpoint.ts";
import type { HostServices } from "../contract/plugin.ts";
import type { Source } from "../contract/source.ts";
import type { EndpointJudge, JudgeRules } from "../judge.ts";
import type { Probes } from "../settings.ts";
import type { Traffic } from "../state/traffic.ts";
import { NOBODY_THERE } from "../wire/get-error.ts";
import type { HttpGet } from "../wire/http-get-result.ts";
import { DiscoveryLists } from "./discovery-lists.ts";
import type { Intents } from "./intents.ts";
import type { ControlPlugins } from "./plugin-set.ts";
import { PoolWatch, type WatchedPool } from "./pool-watch.ts";
import { Prober } from "./readiness/prober.ts";

/** What the config says to the control plane; it may change while it runs. */
export interface ControlPlan {
  readonly plugins: ControlPlugins;
  readonly probes: Probes;
  readonly active: JudgeRules["active"];
}

export interface ControlPlaneOptions extends ControlPlan, WatchedPool {
  readonly services: HostServices;
  readonly get: HttpGet;
  /** An endpoint that was in service refuses connections, or can't be reached. */
  readonly gone: (endpoint: Endpoint) => void;
  /** Capacity in tokens of the KV cache of this slot's replica; undefined when it is not known any more. */
  readonly capacityKnown: (slot: number, tokens: number | undefined) => void;
}

/** Moments of an endpoint, on the router's clock; NaN where there is none. */
export interface EndpointTimes {
  /** Since when it has been in its phase. */
  readonly phaseSinceMs: number;
  /** The last and the next startup or readiness probe. */
  readonly lastCheckMs: number;
  readonly nextCheckMs: number;
}

/** Makes facts from discovery, probes and traffic, and publishes them when they change. */
export class ControlPlane {
  readonly judge: EndpointJudge;
  /** What operators want of the endpoints. */
  readonly intents: Intents;
  readonly #watch: PoolWatch;
  readonly #prober: Prober;
  #plugins: ControlPlan["plugins"];
  #lists: DiscoveryLists;
  /** Endpoints that others wait for, to be taken away. */
  #successors: ReadonlySet<string> = new Set();

  constructor(options: ControlPlaneOptions) {
    const { plugins, probes, services, load, get, capacityKnown, gone } = options;
    this.#plugins = plugins;
    this.#lists = new DiscoveryLists(plugins.discoveries);
    this.#watch = new PoolWatch({
      ...options,
      detectors: plugins.detectors,
      probeFailure: (endpoint) => this.probeFailure(endpoint),
      probePassedMs: (endpoint) => this.#probePassedMs(endpoint),
      probeSoon: (endpoint) => this.#prober.of(endpoint)?.checkSoon(),
    });
    this.judge = this.#watch.judge;
    this.intents = this.#watch.intents;
    this.#prober = new Prober({
      ...services,
      load,
      get,
      capacityKnown,
      probes,
      sources: plugins.sources.map(({ plugin }) => plugin),
      changed: (name, health) => {
        const { table } = this.#watch;
        const wasHealthy = table.isHealthy(name);
        table.probed(name, health);
        const endpoint = table.endpoints.find((each) => each.name === name);
        if (wasHealthy && !health.isServing && NOBODY_THERE.has(health.readinessFailure) && endpoint !== undefined)
          gone(endpoint);
        if (!wasHealthy && table.isHealthy(name) && this.#successors.has(name)) this.#discovered();
      },
    });
  }

  /** Told of every exchange with an endpoint. */
  get traffic(): Traffic {
    return this.judge.traffic;
  }

  /** Starts discovery and probing. Throws when a discovery can't start. */
  start(): void {
    this.#watch.start();
    this.#lists.start();
    this.#lists.succeed(undefined, () => this.#discovered());
    this.#discovered();
  }

  /**
   * Starts the discoveries of the next config; throws when one can't start, and changes nothing. The returned function lets the
   * config take effect: endpoints that stay keep their slot, their health and what is known of them.
   */
  prepare({ plugins, probes, active }: ControlPlan): () => void {
    const lists = new DiscoveryLists(plugins.discoveries);
    try {
      lists.start();
    } catch (thrown) {
      lists.stop();
      throw thrown;
    }
    return () => {
      const successors = successorsOf(this.#plugins.sources, plugins.sources);
      lists.succeed(this.#lists, () => this.#discovered());
      this.#lists = lists;
      this.#plugins = plugins;
      this.judge.useRules({ detectors: plugins.detectors, active });
      this.#prober.follow(
        probes,
        plugins.sources.map(({ plugin }) => plugin),
        successors,
      );
      this.#discovered();
    };
  }

  /** A routed request could not connect to the endpoint. */
  connectFailed(endpoint: Endpoint): void {
    this.#prober.of(endpoint)?.connectFailed();
  }

  /** A gateway says that it could not reach the endpoint, or did without it. */
  doubted(endpoint: Endpoint): void {
    this.#prober.of(endpoint)?.doubted();
  }

  /** Whether a request that had to leave another endpoint would wait there too. */
  isSilent(endpoint: Endpoint): boolean {
    return this.judge.isSilent(endpoint);
  }

  /** A response contradicts the endpoint's list of models. */
  checkModels(endpoint: Endpoint): void {
    this.#prober.of(endpoint)?.checkModels();
  }

  /** The endpoint's replica has loaded or unloaded an adapter. */
  adapterChanged(endpoint: Endpoint, name: string, isLoaded: boolean): void {
    this.#prober.of(endpoint)?.adapterChanged(name, isLoaded);
  }

  /** The discoveries that can't know the replicas as they are now, by their names. */
  get discoveryTroubles(): DiscoveryLists["troubles"] {
    return this.#lists.troubles;
  }

  /** Why the endpoint's last probe failed; "" after a success. */
  probeFailure(endpoint: Endpoint): string {
    const health = this.#prober.of(endpoint)?.health;
    return health?.readinessFailure || health?.livenessFailure || "";
  }

  /** Paths at which the endpoint told of itself, and can't be understood any more. */
  unreadableSources(endpoint: Endpoint): readonly string[] {
    return this.#prober.of(endpoint)?.unreadableSources ?? [];
  }

  /** What is left out of what the endpoint says of itself, in sentences. */
  leftOut(endpoint: Endpoint): readonly string[] {
    return this.#prober.of(endpoint)?.leftOut ?? [];
  }

  timesOf(endpoint: Endpoint): EndpointTimes {
    const { lastMs = Number.NaN, nextMs = Number.NaN } = this.#prober.of(endpoint)?.checks ?? {};
    return { phaseSinceMs: this.#watch.replicaLog.phaseSinceMs(endpoint.name), lastCheckMs: lastMs, nextCheckMs: nextMs };
  }

  stop(): void {
    this.#watch.stop();
    this.#lists.stop();
    this.#prober.stop();
  }

  #probePassedMs(endpoint: Endpoint): number {
    const { lastMs = Number.NaN } = this.#prober.of(endpoint)?.checks ?? {};
    return lastMs >= 0 && this.probeFailure(endpoint) === "" ? lastMs : Number.NEGATIVE_INFINITY;
  }

  #discovered(): void {
    const { table } = this.#watch;
    const specs = this.#lists.specs;
    // One that is not ready itself has nothing to give until the others are.
    const isReplaced = ({ name, replacedBy = [] }: EndpointSpec) =>
      replacedBy.length > 0 && (!table.isHealthy(name) || replacedBy.every((each) => table.isHealthy(each)));
    const kept = specs.filter((spec) => !isReplaced(spec));
    this.#successors = new Set(kept.flatMap(({ replacedBy = [] }) => replacedBy));
    table.discovered(kept);
    this.#prober.watch(table.endpoints);
  }
}

/** The sources of the next config by those that they follow: same name, same type. */
function successorsOf(before: ControlPlugins["sources"], after: ControlPlugins["sources"]): ReadonlyMap<Source, Source> {
  const successors = new Map<Source, Source>();
  for (const { name, type, plugin } of before) {
    const next = after.find((each) => each.name === name && each.type === type);
    if (next !== undefined) successors.set(plugin, next.plugin);
  }
  return successors;
}
