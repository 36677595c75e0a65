import type { EndpointSpec } from "../core/contract/endpoint.ts";
import type { Probes } from "../core/control/readiness/probes.ts";
import type { Settings } from "../core/settings.ts";
import type { Position } from "./problems.ts";
import type { RewriteRule } from "./rewrite-rule.ts";

/** Everything the config files say, checked and with every default filled in. Plain data. */
export interface RouterConfig {
  readonly listen: Address;
  /** Undefined when the admin port is off. */
  readonly admin: AdminAddress | undefined;
  readonly pool: PoolConfig;
  /** Every instance that runs: the listed ones in file order, then the defaults that nobody listed. Names are unique. */
  readonly plugins: readonly PluginEntry[];
  readonly profile: ProfileConfig;
  /** In the order they are asked. */
  readonly rewrites: readonly RewriteRule[];
  readonly settings: Settings;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface AdminAddress extends Address {
  /** Names with a dot that it may be asked by, beside its host. */
  readonly hosts: readonly string[];
}

interface PoolConfig {
  /** What a rewrite's poolRef.name points at. */
  readonly name: string;
  readonly endpoints: readonly EndpointSpec[];
  readonly probes: Probes;
}

export interface PluginEntry {
  readonly name: string;
  readonly type: string;
  /** Where the plugin was loaded from; undefined for a built-in type. */
  readonly from: string | undefined;
  /** What the plugin's own schema made of its parameters: ready for `create`. */
  readonly parameters: unknown;
  /** Where the files list it; undefined for a default. */
  readonly position: Position | undefined;
}

export interface ProfileConfig {
  readonly name: string;
  /** Filters in the order they run, scorers with their weights, and one picker. */
  readonly plugins: readonly ProfileRef[];
}

export interface ProfileRef {
  /** Name of an entry in `plugins`. */
  readonly pluginRef: string;
  /** Scorers only. */
  readonly weight?: number;
}
