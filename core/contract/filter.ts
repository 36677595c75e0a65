import type { Endpoint } from "./endpoint.ts";
import type { RouterError } from "./errors.ts";
import type { LoadView } from "./load-view.ts";
import type { ProfilePlugin, Random } from "./profile-plugin.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * Which candidates may serve the request? The same inputs must give the same result. A filter expresses a need, such as a model or a
 * label, or a wish, such as the endpoint that knows the session.
 *
 * @example
 * create: () => ({
 *   filter: (request, candidates) => candidates.filter(({ labels }) => labels["tier"] === request.headers.get("x-tier")),
 * })
 */
export interface Filter extends ProfilePlugin {
  /**
   * need: what it drops can't serve the request, or must not. wish: others are only preferred, so what it drops is tried when those fail
   * that it keeps, and it is passed over where it, or a need behind it, would leave no candidate. Left out: need.
   *
   * @example
   * create: () => ({
   *   expresses: "wish",
   *   filter: ({ headers }, candidates) => candidates.filter(({ labels }) => labels["zone"] === headers.get("x-zone")),
   * })
   */
  readonly expresses?: "need" | "wish";
  /**
   * Returns the candidates that stay, in their order. The list belongs to this call; the endpoints in it are frozen. Use no source
   * of chance other than `random`.
   */
  filter(request: InferenceRequest, candidates: readonly Endpoint[], load: LoadView, random: Random): readonly Endpoint[];
  /**
   * The error when this filter leaves no candidate; by default 503. `endpoints` is the whole pool, `clientModels` are the names that
   * rewrites stand for.
   */
  refuse?(request: InferenceRequest, endpoints: readonly Endpoint[], clientModels?: readonly string[]): RouterError;
}
