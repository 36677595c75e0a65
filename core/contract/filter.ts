import type { Endpoint } from "./endpoint.ts";
import type { RouterError } from "./errors.ts";
import type { LoadView } from "./load-view.ts";
import type { ProfilePlugin, Random } from "./profile-plugin.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * Which candidates may serve it? The same inputs must give the same answer.
 *
 * @example
 * create: () => ({
 *   filter: (request, candidates) => candidates.filter(({ labels }) => labels["tier"] === request.headers.get("x-tier")),
 * })
 */
export interface Filter extends ProfilePlugin {
  /** Those that stay, in their order. The list is the call's own, the endpoints in it are frozen; `random` is the only chance it may use. */
  filter(request: InferenceRequest, candidates: readonly Endpoint[], load: LoadView, random: Random): readonly Endpoint[];
  /** The error when nobody is left; without it, 503. `endpoints` is the whole pool. */
  refuse?(request: InferenceRequest, endpoints: readonly Endpoint[]): RouterError;
}
