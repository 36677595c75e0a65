import type { EndpointSpec } from "./contract/endpoint.ts";
import type { LabelSelector } from "./contract/label-selector.ts";
import type { Definition, HostServices, PluginKind, PluginKinds } from "./contract/plugin.ts";
import type { Secret } from "./contract/secret.ts";
import type { MakeJudge } from "./judge.ts";
import type { FaultReporter } from "./plugin-watch/plugin-faults.ts";
import type { FeatureConfigs, Probes, ServerTls, Settings } from "./settings.ts";

/** A place in a config file; line and column begin at 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What a router is made of: its config, and the type of each plugin instance in it. */
export interface RouterPlan {
  readonly config: RouterConfig;
  /** Types by the name of the entry in `config.plugins`. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** The features that have a section of the config, listed or not. */
  readonly sections: readonly SectionModule[];
  /** Keeps plugins that do not come with the router apart from it. Where an entry has `from`, it is there. */
  readonly isolate?: Isolate;
}

/** A pool beside the router's own: who goes there, and what it is made of. */
export interface PoolPlan {
  readonly name: string;
  /** All that it has must match; without any of the three only targets and fallbacks lead there. A "*" at the end of a name is for any rest. */
  readonly models: readonly string[];
  /** Values by header names in lower case. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** Names of keys. */
  readonly keys: readonly string[];
  /** Where its requests go, in this order, that it can't serve. */
  readonly fallback: readonly FallbackTarget[];
  /** Without what the router has for all pools. */
  readonly plan: RouterPlan;
}

export interface FallbackTarget {
  readonly pool: string;
  /** The model that replicas get there; undefined: the same. */
  readonly model: string | undefined;
}

/** Is called once for the plugins of one config, and what it returns for each plugin that has `from`. */
export type Isolate = (
  services: HostServices,
  faults: FaultReporter,
  featureWaitMs: number,
) => (entry: PluginEntry, kind: PluginKind) => Isolation;

/** Stands between the router and one plugin. */
export interface Isolation {
  /** The router's services, as the plugin gets them. */
  readonly services: HostServices;
  /** The plugin, as the router calls it. Throws PluginError if it can't be called. */
  plugin(plugin: PluginKinds[PluginKind]): PluginKinds[PluginKind];
}

/** A feature whose options are a section of the config. */
export interface SectionModule extends Definition<"feature"> {
  /** The section's key in `config.features`. */
  readonly section: { readonly key: string };
  /** Judges the endpoints by what requests meet there. At most one feature does. */
  readonly judge?: MakeJudge;
}

/** What the Router document says, but for the sections of features. */
export interface RouterSections {
  readonly listen: ListenAddress;
  /** Undefined when the admin port is off. */
  readonly admin: AdminAddress | undefined;
  readonly pool: {
    /** The name that a rewrite's poolRef.name refers to. */
    readonly name: string;
    readonly endpoints: readonly EndpointSpec[];
    readonly probes: Probes;
    /** Which endpoints process prompts, generate answers, or do either, where features take them apart; absent: labels say it. */
    readonly roles?: PoolRoles | undefined;
  };
  readonly profile: ProfileConfig;
  readonly settings: Settings;
}

export type PoolRoles = Readonly<Partial<Record<"prefill" | "decode" | "both", LabelSelector | undefined>>>;

/** All that the config files say. Which plugins run follows from it, and from those that are listed. */
export interface SettledConfig extends RouterSections {
  /** Profiles of features, by their sections. Their plugins are instances of their own, at the end of `plugins`. */
  readonly others: ReadonlyMap<string, ProfileConfig>;
  /** In the order in which they are matched. */
  readonly rewrites: readonly RewriteRule[];
  readonly objectives: readonly Objective[];
  /** Names of the rules whose targets are drawn in a random order. */
  readonly shuffled: ReadonlySet<string>;
  readonly features: FeatureConfigs;
}

/** The content of the config files, validated, with all defaults filled in. Plain data. */
export interface RouterConfig extends SettledConfig {
  /** All instances that run: the listed ones in file order, then the defaults that are not listed. Names are unique. */
  readonly plugins: readonly PluginEntry[];
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** An address of the router's own. */
export interface ListenAddress extends Address {
  /** Whether other processes may listen on the same port. */
  readonly isPortShared: boolean;
  /** Undefined: plain HTTP. */
  readonly tls?: ServerTls | undefined;
}

export interface AdminAddress extends ListenAddress {
  /** Accepted host names with a dot, beside `host`. */
  readonly hosts: readonly string[];
  /** What requests to the API bring; without any, those on loopback need none. */
  readonly tokens: readonly AdminToken[];
  readonly isReadOnly: boolean;
}

/** Lets who brings it read on the admin port, or also change. */
export interface AdminToken {
  /** Whose it is: changes made with it are known by this name. */
  readonly name: string;
  readonly role: "read" | "change";
  readonly secret: Secret;
}

export interface PluginEntry {
  readonly name: string;
  readonly type: string;
  /** The module that the plugin was loaded from; undefined for a built-in type. */
  readonly from: string | undefined;
  /** The absolute path of that module; "" for a built-in type. */
  readonly file: string;
  /** Parameters as returned by the plugin's schema, ready for `create`. */
  readonly parameters: unknown;
  /** The secrets among them, by where they come from; absent if there is none. */
  readonly secrets?: ReadonlyMap<string, Secret> | undefined;
  /** Where relative paths in its parameters begin: the folder of its file; for a default the working directory. */
  readonly folder: string;
  /** Its place in the files; undefined for a default. */
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

/**
 * One rule of a rewrite resource, validated, with defaults filled in. Lists of rules are in the order in which they are
 * matched.
 */
export interface RewriteRule {
  /** The resource's name and the rule's index in it, such as "food-review/0". */
  readonly name: string;
  /** Model names that the rule matches exactly; an empty list matches every request. */
  readonly models: readonly string[];
  readonly targets: readonly RewriteTarget[];
  /** Header (lower case) whose value pins a client to one target; "" for none. */
  readonly stickyHeader: string;
  /** What to do when no ready replica serves the drawn target. */
  readonly onUnavailable: "refuse" | "redistribute";
}

/** An InferenceObjective: how important its requests are. */
export interface Objective {
  readonly name: string;
  readonly namespace: string;
  /** More is more important. */
  readonly priority: number;
}

interface RewriteTarget {
  /** Model or adapter name that the replica gets. */
  readonly name: string;
  /** The pool whose replicas it is for; absent: as for requests that no rule is for. */
  readonly pool?: string;
  /** Share relative to the other targets; 0 is listed but drained. At least one is above 0. */
  readonly weight: number;
}
