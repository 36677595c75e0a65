import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { PoolConnections } from "../../core/pool/connections.ts";
import type { Limits } from "../../core/settings.ts";
import type { UpstreamPool } from "../../core/wire/upstream-pool.ts";
import type { WatchedTry } from "../../core/wire/watched-try.ts";

/** A router's connections to replicas in memory. `make` makes those of one endpoint, when they are asked for. */
export class MemoryConnections<Upstream extends UpstreamPool> implements PoolConnections {
  readonly #make: (endpoint: Endpoint) => Upstream;
  readonly #known = new Map<string, { readonly slot: number; readonly upstream: Upstream }>();

  constructor(make: (endpoint: Endpoint) => Upstream) {
    this.#make = make;
  }

  of(endpoint: Endpoint): Upstream {
    const { name, slot } = endpoint;
    const known = this.#known.get(name);
    if (known !== undefined) return known.upstream;
    const upstream = this.#make(endpoint);
    this.#known.set(name, { slot, upstream });
    return upstream;
  }

  openTo(endpoint: Endpoint): number {
    return this.of(endpoint).size;
  }

  leftOpenAt(): number {
    return 0;
  }

  lastByteMs(endpoint: Endpoint): number {
    return this.of(endpoint).lastByteMs;
  }

  triesAt(endpoint: Endpoint): readonly WatchedTry[] {
    return this.of(endpoint).tries;
  }

  closeIdle(ofSlot: number): void {
    for (const { slot, upstream } of this.#known.values()) if (slot === ofSlot) upstream.closeIdle();
  }

  follow(): void {}

  useLimits(limits: Limits): void {
    for (const { upstream } of this.#known.values()) upstream.limits = limits;
  }

  useTls(): void {}

  close(): void {
    for (const { upstream } of this.#known.values()) upstream.close();
  }
}
