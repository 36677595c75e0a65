import type { ActiveConfig } from "./active-config.ts";
import type { MemoryBudget } from "./body/memory-budget.ts";
import type { ScanTurns } from "./body/scan-turns.ts";
import type { Clock } from "./contract/clock.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { Log } from "./contract/log.ts";
import type { Random } from "./contract/profile-plugin.ts";
import type { Admission } from "./stages/admit.ts";
import type { Mirroring } from "./stages/mirroring.ts";
import type { PluginFaults } from "./stages/plugin-faults.ts";
import type { PluginTimes } from "./stages/plugin-times.ts";
import type { Shadowing } from "./stages/shadowing.ts";
import type { Facts } from "./state/facts.ts";
import type { LoadTable } from "./state/load.ts";
import type { PrefixIndex } from "./state/prefix-index.ts";
import type { RequestFigures } from "./state/request-figures.ts";
import type { RetryBudget } from "./state/retry-budget.ts";
import type { TokenScale } from "./state/token-scale.ts";
import type { Traffic } from "./state/traffic.ts";
import type { ClientCounts } from "./wire/client-counts.ts";
import type { Deadlines } from "./wire/deadlines.ts";
import type { UpstreamConnection } from "./wire/upstream-connection.ts";

/** What an exchange uses of its connection to a replica. */
export type ReplicaConnection = Pick<UpstreamConnection, "send" | "pause" | "resume" | "destroy" | "hasSentAll">;

/** The connections to one replica. */
interface ReplicaConnections {
  /** A connection to send on, or undefined at the limit. `isFresh` refuses one that has carried a request before. */
  take(isFresh: boolean): ReplicaConnection | undefined;
  /** One that clients will not miss; undefined if there is none. */
  takeSpare(): ReplicaConnection | undefined;
}

/** Everything that a request uses. Requests read config and facts and change counters; they never build config or facts. */
export interface DataPlane {
  /** The newest config: a request takes it when its head comes, keeps it, and gives it back at its very end. */
  takeConfig(): ActiveConfig;
  /** A request that took this config has ended and uses no plugin of it any more. */
  giveBack(config: ActiveConfig): void;
  /** The newest facts; a request takes them when its decision is made. */
  readonly facts: Facts;
  readonly admission: Admission;
  /** Requests under way of each client address; a request leaves those that it entered. */
  readonly clients: ClientCounts;
  readonly memory: MemoryBudget;
  /** Scans large bodies. */
  readonly scanTurns: ScanTurns;
  readonly load: LoadTable;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndex | undefined;
  /** Corrects estimates of prompt lengths. */
  readonly tokenScale: TokenScale;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** When the router started, in seconds since 1970: the creation time of every model it lists. */
  readonly startedAtS: number;
  /** The router is about to stop: it serves, and asks for no more clients. */
  readonly isStopping: boolean;
  /** Is told of every exchange with an endpoint. */
  readonly traffic: Traffic;
  /** Is told of every request that has ended. */
  readonly figures: Pick<RequestFigures, "ended">;
  readonly pluginTimes: PluginTimes;
  readonly pluginFaults: PluginFaults;
  readonly mirroring: Mirroring;
  readonly shadowing: Shadowing;
  readonly retryBudget: RetryBudget;
  /** The one timer of all streams that get keep-alive events; undefined if no config has had any. */
  readonly silences: Deadlines | undefined;
  poolOf(endpoint: Endpoint): ReplicaConnections;
  /** A request could not connect to the endpoint: reports it to the prober before the next probe. */
  connectFailed(endpoint: Endpoint): void;
  /** A response contradicts the endpoint's list of models: it is read again before its period is over. */
  readonly checkModels: (endpoint: Endpoint) => void;
  /** A request id that no other request of this process has. */
  nextRequestId(): string;
}
