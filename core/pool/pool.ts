import type { Endpoint } from "../contract/endpoint.ts";
import type { Outcome } from "../contract/outcome.ts";
import type { Facts } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import type { PrefixIndex } from "../state/prefix-index.ts";
import type { RetryBudget } from "../state/retry-budget.ts";
import type { TokenScale } from "../state/token-scale.ts";
import type { Traffic } from "../state/traffic.ts";
import type { PoolConnections } from "./connections.ts";

/** What watches over a pool's replicas, as requests use it. */
export interface PoolControl {
  /** Is told of every try at an endpoint. */
  readonly traffic: Traffic;
  /** A request could not connect to the endpoint: reports it to the prober before the next probe. */
  connectFailed(endpoint: Endpoint): void;
  /** A gateway says that it could not reach the endpoint, or did without it: has it probed at once. */
  doubted(endpoint: Endpoint): void;
  /** Whether a request that had to leave another endpoint, because that one is silent, would wait at this one too. */
  isSilent(endpoint: Endpoint): boolean;
  /** A response contradicts the endpoint's list of models: it is read again before its period is over. */
  checkModels(endpoint: Endpoint): void;
}

/** What is read of a pool to describe a request; nothing of it is changed. */
export interface AskedPool {
  /** The newest facts; a request reads them when its decision is made. */
  readonly facts: Facts;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndex | undefined;
  /** Corrects estimates of prompt lengths. */
  readonly tokenScale: TokenScale;
}

/** Counts how requests end, for whoever shows it. */
export interface RequestCounter {
  /** Takes the pool's list. */
  follow(endpoints: readonly Endpoint[]): void;
  ended(outcome: Outcome, nowMs: number): void;
}

/** One pool of replicas, as requests use it: they read facts and change counters; they never build facts. */
export interface Pool extends AskedPool {
  readonly load: LoadTable;
  readonly retryBudget: RetryBudget;
  /** Is told of every request that has ended. */
  readonly figures: RequestCounter;
  readonly control: PoolControl;
  readonly connections: PoolConnections;
}
