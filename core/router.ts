import type { LoadedConfig } from "../config/load.ts";
import type { ActiveConfig } from "./active-config.ts";
import type { MemoryBudget } from "./body/memory-budget.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { Adapters } from "./control/adapters.ts";
import type { EndpointTimes } from "./control/control-plane.ts";
import type { Intents } from "./control/intents.ts";
import type { Rollouts } from "./control/rollouts.ts";
import type { DryRun, DryRunRequest } from "./intake/dry-run.ts";
import type { RequestStarter } from "./intake/request-receiver.ts";
import type { Mirroring } from "./stages/mirroring.ts";
import type { SlowPlugin, TimedPlugin } from "./stages/plugin-times.ts";
import type { Shadowing } from "./stages/shadowing.ts";
import type { Facts } from "./state/facts.ts";
import type { FactsDocument } from "./state/facts-document.ts";
import type { LoadTable } from "./state/load.ts";
import type { PrefixIndexStats } from "./state/prefix-index.ts";
import type { RequestFigures } from "./state/request-figures.ts";
import type { UnreadCounter } from "./wire/write-progress.ts";

/** A router without a listener: hosts (the wire server, the fetch face) start requests on it, the admin port shows its state. */
export interface Router {
  readonly start: RequestStarter;
  /** A new id, for responses to input that never became a request. */
  nextRequestId(): string;
  /** The newest config: what requests get that begin now. */
  readonly config: ActiveConfig;
  /** Configs that were replaced and that requests under way still use. */
  readonly olderConfigs: number;
  /** The facts that decisions read now. */
  readonly facts: Facts;
  readonly load: LoadTable;
  /** What request bodies and unread responses hold together. */
  readonly memory: Pick<MemoryBudget, "limitBytes" | "bodyBytes" | "refusals"> & UnreadCounter;
  /** When it started, in seconds since 1970. */
  readonly startedAtS: number;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndexStats | undefined;
  /** Open connections to the endpoint, busy and idle. */
  connectionsTo(endpoint: Endpoint): number;
  /** Connections in use at the endpoint's address from before it left the pool and came back. */
  leftOpenAt(endpoint: Endpoint): number;
  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number;
  /** Since when it is in its phase, and when it is probed. */
  timesOf(endpoint: Endpoint): EndpointTimes;
  /** What requests met in the last minutes. */
  readonly figures: Pick<RequestFigures, "of" | "pool">;
  /** What operators want of the endpoints. */
  readonly intents: Intents;
  /** Whether so many endpoints fail that all that are up are used. */
  readonly isPanicking: boolean;
  /** Plugins that take more time per request than they may. */
  readonly slowPlugins: readonly SlowPlugin[];
  /** What filters, scorers and the picker took in the requests in which they were timed. */
  readonly pluginTimes: readonly TimedPlugin[];
  /** How often each plugin broke its contract on a request, by its name. */
  readonly pluginFaults: ReadonlyMap<string, number>;
  readonly mirroring: Pick<Mirroring, "counts">;
  readonly shadowing: Pick<Shadowing, "counts">;
  readonly adapters: Adapters;
  /** What became of the requests that rewrite rules sent to their targets, and the guards. */
  readonly rollouts: Rollouts;
  /** Why the endpoint's last probe failed; "" after a success. */
  probeFailure(endpoint: Endpoint): string;
  /** Resolves to true once an endpoint is available, or to false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** What would be decided about this request now; nothing is sent or booked. Throws the RouterError that the client would get. */
  dryRun(asked: DryRunRequest): DryRun;
  /** What a decision reads, but for what is known of prompts. */
  savedFacts(): FactsDocument;
  /** From now on `/ready` says 503; everything else is served as before. */
  announceStop(): void;
  /**
   * Builds the plugins of another config and lets it run instead, in one step: requests that begin after it have the next
   * config, those under way end with the one they began with. Throws an Error, and changes nothing, when they can't be built.
   * `listen` and `admin` are not the router's and are not looked at.
   */
  replace(next: LoadedConfig): void;
  /** Ends probes and every connection to a replica; requests under way break off. */
  close(): void;
}
