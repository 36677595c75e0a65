import type { Endpoint } from "./endpoint.ts";
import type { LoadView } from "./load-view.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * What a scorer expects of a request at an endpoint. Where a profile has one, its numbers take the place of the router's own in
 * explanations, in outcomes, and so in metrics. The first of the profile is asked. It must not throw, and changes nothing.
 */
export interface LatencyEstimator {
  /** Time to the first token, in milliseconds; NaN if unknown. */
  firstTokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number;
  /** Time for each output token after the first, in milliseconds; NaN if unknown. */
  tokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number;
  /** What the request should get. */
  targets(request: InferenceRequest): LatencyTargets;
}

/** The longest times that a request should take, in milliseconds; Infinity where there is no target. */
export interface LatencyTargets {
  readonly firstTokenMs: number;
  readonly tokenMs: number;
}
