import type { ActiveConfig } from "./active-config.ts";
import type { MemoryBudget } from "./body/memory-budget.ts";
import type { ScanTurns } from "./body/scan-turns.ts";
import type { PluginFaults } from "./plugin-watch/plugin-faults.ts";
import type { PluginTimes } from "./plugin-watch/plugin-times.ts";
import type { Pool } from "./pool/pool.ts";
import type { Services } from "./services.ts";
import type { ClientCounts } from "./wire/client-counts.ts";

/** The configs that requests take. */
interface Configs {
  /** The newest config: a request takes it when its head comes, keeps it, and gives it back at its very end. */
  take(): ActiveConfig;
  /** A request that took this config has ended and uses no plugin of it any more. */
  giveBack(config: ActiveConfig): void;
}

/** What bounds the requests that come in. */
export interface Gate {
  /** Requests under way of each client address; a request leaves those that it entered. */
  readonly clients: ClientCounts;
  readonly memory: MemoryBudget;
  /** Scans large bodies. */
  readonly scanTurns: ScanTurns;
}

/** What plugins take, and how often they break their contract. */
export interface PluginWatch {
  readonly times: PluginTimes;
  readonly faults: PluginFaults;
}

/** What the router says of itself. */
export interface Identity {
  /** When it started, in seconds since 1970: the creation time of every model it lists. */
  readonly startedAtS: number;
  /** It is about to stop: it serves, and asks for no more clients. */
  readonly isStopping: boolean;
  /** A request id that no other request of this process has. */
  nextRequestId(): string;
}

/** What requests use of a router, by part. */
export interface RouterParts {
  readonly services: Services;
  readonly configs: Configs;
  readonly gate: Gate;
  readonly pool: Pool;
  readonly plugins: PluginWatch;
  readonly identity: Identity;
}
