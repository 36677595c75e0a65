import type { Endpoint } from "../contract/endpoint.ts";
import type { Facts } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import type { PrefixIndex } from "../state/prefix-index.ts";
import type { RequestFigures } from "../state/request-figures.ts";
import type { RetryBudget } from "../state/retry-budget.ts";
import type { TokenScale } from "../state/token-scale.ts";
import type { Traffic } from "../state/traffic.ts";
import type { UpstreamConnection } from "../wire/upstream-connection.ts";

/** What a try uses of its connection to a replica. */
export type ReplicaConnection = Pick<UpstreamConnection, "send" | "pause" | "resume" | "destroy" | "hasSentAll">;

/** What reads a response uses of it. */
export type ReadConnection = Omit<ReplicaConnection, "send">;

/** The connections to one replica. */
export interface ReplicaConnections {
  /** A connection to send on, or undefined at the limit. `isFresh` refuses one that has carried a request before. */
  take(isFresh: boolean): ReplicaConnection | undefined;
  /** One that clients will not miss; undefined if there is none. */
  takeSpare(): ReplicaConnection | undefined;
}

/** What watches over a pool's replicas, as requests use it. */
export interface PoolControl {
  /** Is told of every try at an endpoint. */
  readonly traffic: Traffic;
  /** A request could not connect to the endpoint: reports it to the prober before the next probe. */
  connectFailed(endpoint: Endpoint): void;
  /** A response contradicts the endpoint's list of models: it is read again before its period is over. */
  checkModels(endpoint: Endpoint): void;
}

/** One pool of replicas, as requests use it: they read facts and change counters; they never build facts. */
export interface Pool {
  /** The newest facts; a request reads them when its decision is made. */
  readonly facts: Facts;
  readonly load: LoadTable;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndex | undefined;
  /** Corrects estimates of prompt lengths. */
  readonly tokenScale: TokenScale;
  readonly retryBudget: RetryBudget;
  /** Is told of every request that has ended. */
  readonly figures: Pick<RequestFigures, "ended">;
  readonly control: PoolControl;
  connections(endpoint: Endpoint): ReplicaConnections;
}
