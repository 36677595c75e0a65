import type { Endpoint } from "./contract/endpoint.ts";
import type { Filter, Observer, Parser, Picker, ResponseHeader, Rewriter, Scorer } from "./contract/plugin.ts";
import type { InferenceRequest } from "./contract/request.ts";
import type { Settings } from "./settings.ts";

/** Everything immutable that a decision reads. A request keeps the one it started with. */
export interface Snapshot extends ActiveConfig {
  readonly endpoints: readonly Endpoint[];
  /** Models and adapters that ready endpoints serve. */
  readonly served: ReadonlySet<string>;
}

/** The part of a snapshot that comes from the config. */
export interface ActiveConfig {
  readonly pool: string;
  /** Parsers by path and, under it, by method. */
  readonly routes: ReadonlyMap<string, ReadonlyMap<string, Named<Parser>>>;
  readonly rewriters: readonly Named<Rewriter>[];
  readonly profile: Profile;
  readonly observers: readonly Named<Observer>[];
  readonly settings: Settings;
  /** When the router started, in seconds since 1970: the creation time of every model it lists. */
  readonly startedAtS: number;
}

/** An ordered list of filters, weighted scorers and one picker. */
export interface Profile {
  readonly name: string;
  readonly filters: readonly Named<Filter>[];
  readonly scorers: readonly WeightedScorer[];
  readonly picker: Named<Picker>;
  /** What those plugins add to an answer's head; empty for most profiles. */
  readonly responseHeaders: readonly ((request: InferenceRequest, endpoint: Endpoint) => ResponseHeader)[];
}

export interface WeightedScorer extends Named<Scorer> {
  readonly weight: number;
}

/** A live plugin under the name the config gave it. */
export interface Named<Plugin> {
  readonly name: string;
  readonly type: string;
  readonly plugin: Plugin;
}

/** Models that ready endpoints serve. */
export function servedModels(endpoints: readonly Endpoint[]): ReadonlySet<string> {
  const served = new Set<string>();
  for (const endpoint of endpoints) {
    if (endpoint.phase !== "ready") continue;
    for (const model of endpoint.models) served.add(model);
  }
  return served;
}
