import type { PrefixSettings } from "../contract/plugin.ts";
import type { Services } from "../services.ts";
import type { Settings } from "../settings.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import { LoadTable } from "../state/load.ts";
import { PoolPrefixes } from "../state/pool-prefixes.ts";
import type { PrefixIndex } from "../state/prefix-index.ts";
import type { PrefixIndexStats } from "../state/prefix-stats.ts";
import { RetryBudget } from "../state/retry-budget.ts";
import { TokenScale } from "../state/token-scale.ts";
import { UNWATCHED } from "../state/traffic.ts";
import { DOUBT_MS } from "../wire/upstream-pool.ts";
import type { ConnectionEvents } from "../wire/upstream-pools.ts";
import type { PoolConnections } from "./connections.ts";
import type { Pool, PoolControl, RequestCounter } from "./pool.ts";

/** Before the control plane is there. */
const UNCONTROLLED: PoolControl = {
  traffic: UNWATCHED,
  connectFailed() {},
  doubted() {},
  isSilent: () => false,
  checkModels() {},
};

/** Where nobody shows it. */
const UNCOUNTED: RequestCounter = { follow() {}, ended() {} };

/**
 * The pool of a running router: what is known of its replicas, what they carry, and the connections to them, which it is given. It
 * outlives configs.
 */
export class LivePool<Connections extends PoolConnections = PoolConnections> implements Pool {
  facts: Facts = factsOf([]);
  control: PoolControl = UNCONTROLLED;
  readonly load = new LoadTable();
  readonly tokenScale = new TokenScale();
  readonly retryBudget: RetryBudget;
  figures: RequestCounter = UNCOUNTED;
  readonly connections: Connections;
  readonly #prefixes: PoolPrefixes;

  /** `prefixSecret`: see PoolPrefixes. */
  constructor(
    { retries, replicaTls }: Settings,
    { clock, log }: Services,
    connect: (events: ConnectionEvents) => Connections,
    prefixSecret?: ArrayLike<number>,
  ) {
    this.retryBudget = new RetryBudget(retries);
    this.#prefixes = new PoolPrefixes(prefixSecret);
    this.connections = connect({
      unasked: (endpoint, isNew) => {
        this.control.traffic.unasked(endpoint, clock.now());
        if (!isNew) return;
        const forS = DOUBT_MS / 1_000;
        log.warn("A replica sent bytes that belong to no request: no connection to it is used twice", {
          endpoint: endpoint.name,
          forS,
        });
      },
      tlsFailed: ({ name }, why) => log.warn("A request found no safe connection to a replica", { endpoint: name, why }),
    });
    this.connections.useTls(replicaTls);
  }

  get prefixIndex(): PrefixIndex | undefined {
    return this.#prefixes.index;
  }

  /** Undefined when no plugin reads prefixes. */
  get prefixStats(): PrefixIndexStats | undefined {
    return this.#prefixes.index?.stats();
  }

  /** Another process serves the slot: its cache is empty, and idle connections belong to the old process. */
  replaced(slot: number): void {
    this.#prefixes.forget(slot);
    this.connections.closeIdle(slot);
  }

  /** Capacity in tokens of the slot's cache; undefined when it is not known any more. */
  capacityKnown(slot: number, tokens: number | undefined): void {
    this.load.cacheTokens[slot] = tokens;
    this.#prefixes.setCapacity(slot, tokens);
  }

  /** From now on it is told of every request that has ended. */
  countBy(figures: RequestCounter): void {
    figures.follow(this.facts.endpoints);
    this.figures = figures;
  }

  /** From now on decisions read these facts. */
  publish(facts: Facts): void {
    this.connections.follow(facts.endpoints);
    this.figures.follow(facts.endpoints);
    this.facts = facts;
  }

  /** Throws an Error, and changes nothing, when there is no memory for the prefix index. The returned function can't fail. */
  prepare({ limits, retries, replicaTls, prefixSecret }: Settings, prefixSettings: PrefixSettings | undefined): () => void {
    const changePrefixes = this.#prefixes.prepare(prefixSettings, prefixSecret);
    return () => {
      changePrefixes();
      this.retryBudget.useSettings(retries);
      this.connections.useLimits(limits);
      this.connections.useTls(replicaTls);
    };
  }

  close(): void {
    this.connections.close();
  }
}
