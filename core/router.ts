import type { ActiveConfig } from "./active-config.ts";
import type { ParsedBody } from "./contract/request.ts";
import type { TargetDraw } from "./contract/rewriter.ts";
import type { ControlPlane } from "./control/control-plane.ts";
import type { KeptState } from "./control/kept-state.ts";
import type { RequestStarter } from "./host/request-starter.ts";
import type { LivePool } from "./pool/live-pool.ts";
import type { RouterPlan } from "./router-config.ts";
import type { AdapterAccess } from "./router-host.ts";
import type { Gate, Identity, PluginWatch, RouterParts } from "./router-parts.ts";
import type { AskedRun } from "./run.ts";
import type { RunningFeatures } from "./running-features.ts";
import type { Services } from "./services.ts";
import type { UpstreamPools } from "./wire/upstream-pools.ts";

/** A router without a listener: hosts (the wire server, the fetch face) start requests on it, the admin port shows its state. */
export interface Router {
  readonly services: Services;
  readonly start: RequestStarter;
  /** The newest config: what requests get that begin now. */
  readonly config: ActiveConfig;
  readonly configs: RouterParts["configs"];
  /** Configs that were replaced and that requests under way still use. */
  readonly olderConfigs: number;
  /** What plugins of the newest config keep over a reload. */
  readonly kept: KeptState;
  readonly pool: LivePool<UpstreamPools>;
  readonly control: ControlPlane;
  readonly gate: Gate;
  readonly plugins: PluginWatch;
  readonly features: RunningFeatures;
  readonly identity: Identity;
  readonly adapters: AdapterAccess;
  /** Resolves to true once an endpoint is available, or to false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** Features may change the config by this from now on. */
  changeBy(config: object): void;
  /** From now on `/ready` says 503; everything else is served as before. */
  announceStop(): void;
  /**
   * Builds the plugins of another config and lets it run instead, in one step: requests that begin after it have the next
   * config, those under way end with the one they began with. Throws an Error, and changes nothing, when they can't be built.
   * `listen` and `admin` are not the router's and are not looked at.
   */
  replace(next: RouterPlan): void;
  /** Does the part of `replace` that can fail. */
  prepare(next: RouterPlan): PreparedConfig;
  /** Ends probes and every connection to a replica; requests under way break off. */
  close(): void;
}

/** A config that is built and does not run yet: one of the two functions is called, once. */
export interface PreparedConfig {
  readonly active: ActiveConfig;
  /** It can't fail. */
  apply(): void;
  discard(): void;
}

/** A feature that runs further pools, each a router behind this one. */
export interface PoolsFeature {
  /** By their names, in the order of the files. */
  readonly routersOfPools: ReadonlyMap<string, Router>;
  /** Where a request would go that is only decided about. Nothing is counted. Throws RouterError for one that no pool is for. */
  dryPool(run: AskedRun, parsed: ParsedBody, front: RouterParts): DryPool;
  /** The target that a request was for which went on to another pool, unless its rule drew another one for it there. */
  meantFor(outcome: object): MeantTarget | undefined;
}

/** A target that a rule drew. */
export interface MeantTarget {
  readonly rule: string;
  /** As figures of targets are called. */
  readonly label: string;
}

/** The pool of a dry run. */
export interface DryPool {
  /** Undefined: the router's own. */
  readonly router: Router | undefined;
  readonly config: ActiveConfig;
  readonly draw: TargetDraw | undefined;
  readonly why: string;
}
