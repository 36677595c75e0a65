import type { ActiveConfig, Named } from "./active-config.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { Feature } from "./contract/feature.ts";
import type { MetricFamily } from "./contract/metric-family.ts";
import type { RouterView } from "./contract/router-view.ts";

/** The features of a running router beside the way of requests: they are told what happens to the router, and say what people see. */
export class RunningFeatures {
  readonly #newest: () => ActiveConfig;
  /** What is there before the router, and people see as a part of it. */
  readonly #attached: Named<Feature>[] = [];

  /** `newest`: the config that runs. */
  constructor(newest: () => ActiveConfig) {
    this.#newest = newest;
  }

  attach(name: string, plugin: Feature): void {
    this.#attached.push({ name, type: name, plugin });
  }

  endpointsChanged(endpoints: readonly Endpoint[]): void {
    for (const { plugin } of this.#all()) plugin.endpointsChanged?.(endpoints);
  }

  replicaGone(endpoint: Endpoint): void {
    for (const { plugin } of this.#all()) plugin.replicaGone?.(endpoint);
  }

  status(rule?: string, target?: string): object {
    const all: { readonly features?: object }[] = this.#all().map(({ plugin }) => plugin.status?.(rule, target) ?? {});
    const outside = all.flatMap(({ features = [] }) => features);
    return Object.assign({}, ...all, outside.length > 0 && { features: Object.assign({}, ...outside) });
  }

  notes(rule: string): readonly string[] {
    return this.#all().flatMap(({ plugin }) => plugin.notes?.(rule) ?? []);
  }

  warnings(view: RouterView): readonly string[] {
    return this.#all().flatMap(({ plugin }) => plugin.warnings?.(view) ?? []);
  }

  metrics(view: RouterView): readonly MetricFamily[] {
    return this.#all().flatMap(({ plugin }) => plugin.metrics?.(view) ?? []);
  }

  stopAnnounced(): void {
    for (const { plugin } of this.#all()) plugin.stopAnnounced?.();
  }

  closed(): void {
    for (const { plugin } of this.#all()) plugin.closed?.();
  }

  #all(): readonly Named<Feature>[] {
    return [...this.#newest().modules, ...this.#attached];
  }
}
