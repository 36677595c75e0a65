import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Log } from "../contract/log.ts";
import type { PrefixSettings } from "../contract/plugin.ts";
import type { Settings } from "../settings.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import { LoadTable } from "../state/load.ts";
import { PoolPrefixes } from "../state/pool-prefixes.ts";
import type { PrefixIndex, PrefixIndexStats } from "../state/prefix-index.ts";
import { RequestFigures } from "../state/request-figures.ts";
import { RetryBudget } from "../state/retry-budget.ts";
import { TokenScale } from "../state/token-scale.ts";
import { UNWATCHED } from "../state/traffic.ts";
import type { TlsFailure } from "../wire/tls-failures.ts";
import { DOUBT_MS } from "../wire/upstream-pool.ts";
import { UpstreamPools } from "../wire/upstream-pools.ts";
import type { TryWatch } from "./gateway.ts";
import type { Pool, PoolControl, ReplicaConnections } from "./pool.ts";

/** Before the control plane is there. */
const UNCONTROLLED: PoolControl = { traffic: UNWATCHED, connectFailed() {}, checkModels() {} };

/** The pool of a running router: what is known of its replicas, what they carry, and the connections to them. It outlives configs. */
export class LivePool implements Pool {
  facts: Facts = factsOf([]);
  control: PoolControl = UNCONTROLLED;
  readonly load = new LoadTable();
  readonly tokenScale = new TokenScale();
  readonly retryBudget: RetryBudget;
  readonly figures: RequestFigures;
  readonly #prefixes = new PoolPrefixes();
  readonly #connections: UpstreamPools;

  constructor({ limits, retries, replicaTls }: Settings, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.retryBudget = new RetryBudget(retries);
    this.figures = new RequestFigures(clock);
    const unasked = (endpoint: Endpoint, isNew: boolean) => {
      this.control.traffic.unasked(endpoint, clock.now());
      if (!isNew) return;
      const forS = DOUBT_MS / 1_000;
      log.warn("A replica sent bytes that belong to no request: no connection to it is used twice", {
        endpoint: endpoint.name,
        forS,
      });
    };
    const tlsFailed = ({ name }: Endpoint, why: TlsFailure) =>
      log.warn("A request found no safe connection to a replica", { endpoint: name, why });
    this.#connections = new UpstreamPools(limits, clock, unasked, tlsFailed);
    this.#connections.useTls(replicaTls);
  }

  get prefixIndex(): PrefixIndex | undefined {
    return this.#prefixes.index;
  }

  /** Undefined when no plugin reads prefixes. */
  get prefixStats(): PrefixIndexStats | undefined {
    return this.#prefixes.index?.stats();
  }

  connections(endpoint: Endpoint): ReplicaConnections {
    return this.#connections.of(endpoint);
  }

  /** Who watches over tries at the endpoint that a gateway carries. */
  watchOf(endpoint: Endpoint): TryWatch {
    return this.#connections.of(endpoint);
  }

  /** Open connections to the endpoint, busy and idle. */
  connectionsTo(endpoint: Endpoint): number {
    return this.#connections.connectionsTo(endpoint);
  }

  /** Connections in use at the endpoint's address from before it left the pool and came back. */
  leftOpenAt(endpoint: Endpoint): number {
    return this.#connections.leftOpenAt(endpoint);
  }

  /** When the endpoint last sent bytes of tokens, on the router's clock, at most a sweep too early; -Infinity before the first. */
  lastByteMs(endpoint: Endpoint): number {
    return this.#connections.lastByteMs(endpoint);
  }

  /** Requests to the endpoint that have waited for a token for so long are given up. Returns whether there were any. */
  cutWaiting(endpoint: Endpoint, leastMs: number): boolean {
    return this.#connections.cutWaiting(endpoint, leastMs);
  }

  /** Streams from the endpoint that fell silent so long ago are given up; see cutStreams of core/wire/stuck-tries.ts. */
  cutStreams(endpoint: Endpoint, leastMs: number, isWitnessed: boolean): void {
    this.#connections.cutStreams(endpoint, leastMs, isWitnessed);
  }

  /** Another process serves the slot: its cache is empty, and idle connections belong to the old process. */
  replaced(slot: number): void {
    this.#prefixes.forget(slot);
    this.#connections.closeIdle(slot);
  }

  /** Capacity in tokens of the slot's cache; undefined when it is not known any more. */
  capacityKnown(slot: number, tokens: number | undefined): void {
    this.#prefixes.setCapacity(slot, tokens);
  }

  /** From now on decisions read these facts. */
  publish(facts: Facts): void {
    this.#connections.follow(facts.endpoints);
    this.figures.follow(facts.endpoints);
    this.facts = facts;
  }

  /** Throws an Error, and changes nothing, when there is no memory for the prefix index. The returned function can't fail. */
  prepare({ limits, retries, replicaTls }: Settings, prefixSettings: PrefixSettings | undefined): () => void {
    const changePrefixes = this.#prefixes.prepare(prefixSettings);
    return () => {
      changePrefixes();
      this.retryBudget.useSettings(retries);
      this.#connections.useLimits(limits);
      this.#connections.useTls(replicaTls);
    };
  }

  close(): void {
    this.#connections.close();
  }
}
