import type { LoadedConfig } from "../config/load.ts";
import type { ActiveConfig } from "./active-config.ts";
import type { Adapters } from "./control/adapters.ts";
import type { ControlPlane } from "./control/control-plane.ts";
import type { LiveFeatures } from "./features/live-features.ts";
import type { RequestStarter } from "./host/request-receiver.ts";
import type { DryRun, DryRunRequest } from "./intake/dry-run.ts";
import type { LivePool } from "./pool/live-pool.ts";
import type { Gate, Identity, PluginWatch } from "./router-parts.ts";
import type { FactsDocument } from "./state/facts-document.ts";

/** A router without a listener: hosts (the wire server, the fetch face) start requests on it, the admin port shows its state. */
export interface Router {
  readonly start: RequestStarter;
  /** The newest config: what requests get that begin now. */
  readonly config: ActiveConfig;
  /** Configs that were replaced and that requests under way still use. */
  readonly olderConfigs: number;
  readonly pool: LivePool;
  readonly control: ControlPlane;
  readonly gate: Gate;
  readonly plugins: PluginWatch;
  readonly features: LiveFeatures;
  readonly identity: Identity;
  readonly adapters: Adapters;
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
