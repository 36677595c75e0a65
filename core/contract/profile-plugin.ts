import type { Endpoint } from "./endpoint.ts";
import type { InferenceRequest } from "./request.ts";

/** What every plugin of a profile (filter, scorer, picker) may do beside its own question. */
export interface ProfilePlugin {
  /** Called once the request is sent to `endpoint`, for each try. A plugin's own state changes here, never while it is asked. */
  chosen?(request: InferenceRequest, endpoint: Endpoint): void;
  /** A header line for the response that `endpoint` gives. */
  responseHeader?(request: InferenceRequest, endpoint: Endpoint): ResponseHeader;
  /** Called once when the config that made the plugin is replaced, or the router stops. */
  dispose?(): void;
}

export type ResponseHeader = readonly [name: string, value: string];

/** A number in [0, 1). */
export type Random = () => number;
