import type { ActiveConfig } from "./active-config.ts";
import type { MemoryBudget } from "./body/memory-budget.ts";
import type { ScanTurns } from "./body/scan-turns.ts";
import type { Outcome } from "./contract/outcome.ts";
import type { Mirroring } from "./features/mirror/mirroring.ts";
import type { Shadowing } from "./features/shadow/shadowing.ts";
import type { PluginFaults } from "./plugin-watch/plugin-faults.ts";
import type { PluginTimes } from "./plugin-watch/plugin-times.ts";
import type { Pool } from "./pool/pool.ts";
import type { Services } from "./services.ts";
import type { ClientCounts } from "./wire/client-counts.ts";
import type { Deadlines } from "./wire/deadlines.ts";

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

/** What a router does beside putting requests on replicas. */
export interface Features {
  readonly mirroring: Mirroring;
  readonly shadowing: Shadowing;
  /** The figures of rewrites' targets, and the guards that read them. */
  readonly rollouts: { ended(outcome: Outcome): void };
  /** The one timer of all streams that get keep-alive events; undefined if no config has had any. */
  readonly silences: Deadlines | undefined;
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
  readonly features: Features;
  readonly identity: Identity;
}
