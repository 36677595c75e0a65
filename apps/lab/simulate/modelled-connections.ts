import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { PoolConnections } from "../../../core/pool/connections.ts";
import type { Limits } from "../../../core/settings.ts";
import type { WatchedTry } from "../../../core/wire/watched-try.ts";
import type { Upstream } from "./upstream.ts";

/** A router's connections to modelled replicas. Each carries one request. */
export class ModelledConnections implements PoolConnections {
  /** By the endpoints' slots. */
  readonly #upstreams: readonly Upstream[];
  #limits: Limits;

  constructor(upstreams: readonly Upstream[], limits: Limits) {
    this.#upstreams = upstreams;
    this.#limits = limits;
  }

  of({ slot }: Endpoint): Upstream {
    return this.#upstreams[slot]!;
  }

  openTo(endpoint: Endpoint): number {
    return this.triesAt(endpoint).length;
  }

  leftOpenAt(): number {
    return 0;
  }

  lastByteMs(endpoint: Endpoint): number {
    return this.of(endpoint).replica.lastTokenMs;
  }

  triesAt(endpoint: Endpoint): readonly WatchedTry[] {
    return this.of(endpoint).tries;
  }

  /** None is kept for another request. */
  closeIdle(): void {}

  follow(endpoints: readonly Endpoint[]): void {
    for (const endpoint of endpoints) this.of(endpoint).follow(endpoint);
  }

  useLimits(limits: Limits): void {
    this.#limits = limits;
  }

  /** A model needs none. */
  useTls(): void {}

  /** Gives up requests that have waited for too long. */
  sweep(): void {
    for (const upstream of this.#upstreams) upstream.sweep(this.#limits);
  }

  close(): void {}
}
