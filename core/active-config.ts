import type { Admission } from "./contract/admission.ts";
import type { Authenticator } from "./contract/authenticator.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { Feature } from "./contract/feature.ts";
import type { Filter } from "./contract/filter.ts";
import type { NameSet } from "./contract/name-set.ts";
import type { Observer } from "./contract/observer.ts";
import type { Parser } from "./contract/parser.ts";
import type { Picker } from "./contract/picker.ts";
import type { ProfilePlugin, ResponseHeader } from "./contract/profile-plugin.ts";
import type { InferenceRequest } from "./contract/request.ts";
import type { Rewriter } from "./contract/rewriter.ts";
import type { Scorer } from "./contract/scorer.ts";
import type { OwnRoutes } from "./own-routes.ts";
import type { FeatureConfigs, Settings } from "./settings.ts";
import type { Having, Slots } from "./slots.ts";

/** The config with its live plugins. A request keeps the one that was active when its head came. */
export interface ActiveConfig {
  readonly pool: string;
  /** Parsers by path and, under it, by method. */
  readonly routes: ReadonlyMap<string, ReadonlyMap<string, RouteParser>>;
  /** Who knows clients by their keys; undefined where everybody may ask. */
  readonly authenticators?: readonly Named<Authenticator>[] | undefined;
  readonly rewriters: readonly Named<Rewriter>[];
  /** The names of all targets of the rewriters' rules. */
  readonly targets: NameSet;
  readonly profile: Profile;
  /** Profiles that features decide with beside it, by their sections; empty for most configs. */
  readonly others: ReadonlyMap<string, Profile>;
  /** Puts requests in order that wait for room in the pool. */
  readonly admission: Named<Admission> | undefined;
  readonly observers: readonly Named<Observer>[];
  /** The observer that traces requests; undefined if none does. */
  readonly tracer?: Named<Having<Observer, "trace">> | undefined;
  readonly settings: Settings;
  readonly features: FeatureConfigs;
  /** The live features, and who of them fills which slot. */
  readonly modules: readonly Named<Feature>[];
  readonly slots: Slots;
  /** The paths that features answer. */
  readonly ownRoutes: OwnRoutes;
}

export interface RouteParser extends Named<Parser> {
  /** What is noted of the bodies that it reads: the parser's keys, and those that features read. */
  readonly keys: readonly string[];
}

/** An ordered list of filters, weighted scorers and one picker. */
export interface Profile {
  readonly name: string;
  readonly filters: readonly Named<Filter>[];
  readonly scorers: readonly WeightedScorer[];
  readonly picker: Named<Picker>;
  /** The names that rewrites stand for, which filters may name when they refuse. Absent: none. */
  readonly clientModels?: readonly string[];
  /** The plugins that have a method `chosen`. */
  readonly chosen: readonly Named<Having<ProfilePlugin, "chosen">>[];
  /** The methods `responseHeader` of the plugins; empty for most profiles. */
  readonly responseHeaders: readonly ((request: InferenceRequest, endpoint: Endpoint) => ResponseHeader)[];
}

export interface WeightedScorer extends Named<Scorer> {
  readonly weight: number;
}

/** Which plugin: its name in the config, and its type. */
export interface InstanceName {
  readonly name: string;
  readonly type: string;
}

/** A live plugin with its name in the config. */
export interface Named<Plugin> extends InstanceName {
  readonly plugin: Plugin;
  /** The absolute path of its module; "" or absent for a built-in one. */
  readonly file?: string;
}
