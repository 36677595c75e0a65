import type { Definition } from "../../core/contract/plugin.ts";
import type { PluginEntry, PoolPlan } from "../../core/router-config.ts";
import type { Path, Report } from "../read/problems.ts";

/** A type, and where a document wants it. */
export interface PlacedDefinition {
  readonly definition: Definition;
  /** Its path in its document; empty for a default. */
  readonly path: Path;
  readonly report: Report;
}

/** One instance and its type. */
export interface Instance extends PlacedDefinition {
  readonly entry: PluginEntry;
}

/** The entries that have problems. */
export interface BrokenEntries {
  /** Names of invalid entries; references to them are not reported again. */
  readonly brokenNames: ReadonlySet<string>;
  /** True if an invalid entry has no readable name, so any name may have been its. */
  readonly hasNamelessBroken: boolean;
}

/** What a list of plugins holds. */
export interface ReadPlugins extends BrokenEntries {
  readonly instances: ReadonlyMap<string, Instance>;
}

/** The config's `plugins`. */
export interface ListedPlugins extends ReadPlugins {
  /** Default types that do not run with this config. */
  readonly withoutDefaults: ReadonlySet<string>;
}

/** An instance that is made of something else than an entry in the list of plugins. */
export interface PluginParameters {
  readonly type: string;
  readonly parameters: unknown;
}

/** A config that runs: whoever changes something beside the files gets its plugins' modules, whatever the files hold now. */
export interface RunningPlugins {
  readonly config: { readonly plugins: readonly PluginEntry[] };
  /** By the name of the entry. */
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly pools?: readonly PoolPlan[];
}
