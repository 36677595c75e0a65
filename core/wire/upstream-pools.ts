import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Limits, ReplicaTlsSettings } from "../settings.ts";
import { Deadlines, sweepPeriodMs } from "./deadlines.ts";
import { isSameTls, replicaTlsFor } from "./replica-tls.ts";
import type { TlsFailure } from "./tls-failures.ts";
import { UpstreamPool } from "./upstream-pool.ts";
import type { WatchedTry } from "./watched-try.ts";

/** What whoever has connections is told of them. */
export interface ConnectionEvents {
  /** An endpoint has sent bytes that belong to no request. `isNew`: its connections were used again until now. */
  unasked(endpoint: Endpoint, isNew: boolean): void;
  /** No connection to the endpoint could be made safe. */
  tlsFailed(endpoint: Endpoint, failure: TlsFailure): void;
}

/** The connection pools, one per endpoint. A pool is kept while its endpoint is listed with the same address. */
export class UpstreamPools {
  #limits: Limits;
  #tls: ReplicaTlsSettings | undefined;
  readonly #deadlines: Deadlines;
  readonly #pools = new Map<number, UpstreamPool>();
  /** Pools of endpoints that were removed or have a new address, kept until their last connection has ended. */
  readonly #retired = new Set<UpstreamPool>();
  readonly #events: ConnectionEvents;

  constructor(limits: Limits, clock: Clock, events: ConnectionEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#deadlines = new Deadlines(clock, upstreamSweepMs(limits));
  }

  /** Takes other limits: open connections keep to them from their next step on. */
  useLimits(limits: Limits): void {
    this.#limits = limits;
    for (const pool of [...this.#pools.values(), ...this.#retired]) pool.limits = limits;
    this.#deadlines.retime(upstreamSweepMs(limits));
  }

  /** Connections that begin later keep to it. Idle ones of replicas for which it says something else now are closed. */
  useTls(tls: ReplicaTlsSettings | undefined): void {
    const pools = [...this.#pools.values()].filter(({ url }) => url.isTls);
    const before = pools.map((pool) => pool.tls());
    this.#tls = tls;
    for (const [index, pool] of pools.entries()) if (!isSameTls(before[index], pool.tls())) pool.closeIdle();
  }

  of(endpoint: Endpoint): UpstreamPool {
    const known = this.#pools.get(endpoint.slot);
    if (known !== undefined && (known.url === endpoint.url || known.url.href === endpoint.url.href)) return known;
    if (known !== undefined) this.#retire(endpoint.slot, known);
    const unasked = (isNew: boolean) => this.#events.unasked(endpoint, isNew);
    const tls = () => replicaTlsFor(endpoint.name, this.#tls);
    const failed = (failure: TlsFailure) => this.#events.tlsFailed(endpoint, failure);
    const pool = new UpstreamPool(endpoint.url, this.#limits, this.#deadlines, unasked, tls, failed);
    this.#pools.set(endpoint.slot, pool);
    return pool;
  }

  /** Notes which replicas are gone, so that silence ends their responses sooner, and retires the pools of removed endpoints. */
  follow(endpoints: readonly Endpoint[]): void {
    const listed = new Map(endpoints.map((endpoint) => [endpoint.slot, endpoint]));
    for (const [slot, pool] of this.#pools) {
      const endpoint = listed.get(slot);
      // What is under way at an old address says nothing of the new one.
      if (endpoint?.url.href !== pool.url.href) this.#retire(slot, pool);
      else pool.goneSinceMs = goneSince(pool.goneSinceMs, endpoint, this.#deadlines.nowMs);
    }
    for (const pool of this.#retired) if (pool.isUnused) this.#retired.delete(pool);
  }

  /** Open connections to the endpoint, busy and idle. */
  openTo(endpoint: Endpoint): number {
    return this.#pools.get(endpoint.slot)?.size ?? 0;
  }

  /** Connections in use at the endpoint's address from before it left the pool and came back. */
  leftOpenAt({ url }: Endpoint): number {
    let connections = 0;
    for (const pool of this.#retired) if (pool.url.href === url.href) connections += pool.busy;
    return connections;
  }

  /** When the endpoint last sent bytes of tokens, on the router's clock, at most a sweep too early; -Infinity before the first. */
  lastByteMs(endpoint: Endpoint): number {
    return this.#poolsAt(endpoint).reduce((lastMs, pool) => Math.max(lastMs, pool.lastByteMs), Number.NEGATIVE_INFINITY);
  }

  /** What is under way at the endpoint, and connections that carry nothing now. */
  triesAt(endpoint: Endpoint): readonly WatchedTry[] {
    return this.#poolsAt(endpoint).flatMap(({ tries }) => tries);
  }

  closeIdle(slot: number): void {
    this.#pools.get(slot)?.closeIdle();
  }

  close(): void {
    for (const pool of [...this.#pools.values(), ...this.#retired]) pool.close();
    this.#deadlines.close();
  }

  /** The pool of an endpoint in use; those that are left of its address, where it has been removed or has another address now. */
  #poolsAt({ slot, url }: Endpoint): readonly UpstreamPool[] {
    const pool = this.#pools.get(slot);
    if (pool?.url.href === url.href) return [pool];
    return [...this.#retired].filter((retired) => retired.url.href === url.href);
  }

  #retire(slot: number, pool: UpstreamPool): void {
    this.#pools.delete(slot);
    pool.closeIdle();
    this.#retired.add(pool);
  }
}

function upstreamSweepMs(limits: Limits): number {
  const { connectTimeoutMs, responseTimeoutMs, streamIdleTimeoutMs, upstreamIdleTimeoutMs } = limits;
  return sweepPeriodMs([connectTimeoutMs, responseTimeoutMs, streamIdleTimeoutMs, upstreamIdleTimeoutMs]);
}

/**
 * Since when a replica is gone, where `knownMs` was the time so far: Infinity while its probes succeed. A replica that is
 * ejected or cordoned is not gone: the requests in its queue may still succeed.
 */
export function goneSince(knownMs: number, { phase }: Endpoint, nowMs: number): number {
  const isGone = phase === "not-ready" || phase === "starting";
  return isGone ? Math.min(knownMs, nowMs) : Number.POSITIVE_INFINITY;
}
