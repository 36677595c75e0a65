import type { Endpoint } from "./endpoint.ts";
import type { LoadView } from "./load-view.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * Optional methods of every plugin of a profile (filter, scorer, picker).
 *
 * @example
 * responseHeader: (_request, endpoint) => ["x-replica", endpoint.name]
 */
export interface ProfilePlugin {
  /**
   * Called for each try, when the request is sent to `endpoint`. `load` does not count it yet. Only here does a plugin change its
   * own state; an observer may tell it more (`examples/latency-predictor/`).
   */
  chosen?(request: InferenceRequest, endpoint: Endpoint, load: LoadView): void;
  /** A header to add to the response from `endpoint`. */
  responseHeader?(request: InferenceRequest, endpoint: Endpoint): ResponseHeader;
  /** Called once when the config that made the plugin is replaced, or the router stops. */
  dispose?(): void;
}

export type ResponseHeader = readonly [name: string, value: string];

/** A number in [0, 1). */
export type Random = () => number;
