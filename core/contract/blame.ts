import type { Attempt, Outcome } from "./outcome.ts";

/** Who kept a request from what it asked for; "nobody": it got it. */
export type Blame = "nobody" | "client" | "replica" | "router";

/** Errors of the router that neither the client nor a replica caused. */
const ROUTER_CODES: ReadonlySet<string> = new Set([
  "internal_error",
  "no_ready_endpoint",
  "overloaded",
  "plugin_fault",
  "saturated",
  "shutting_down",
  "target_unavailable",
]);

/**
 * client: a request that can't succeed (4xx), or one whose client left. replica: 5xx, 429, no response or a broken one. router: it had
 * no replica for the request, or failed itself.
 *
 * @example
 * const isOurs = blameOf(outcome) === "router";
 */
export function blameOf({ status, ending, error }: Pick<Outcome, "status" | "ending" | "error">): Blame {
  if (ending === "client-left") return "client";
  if (error !== undefined) {
    if (ROUTER_CODES.has(error.code)) return "router";
    return error.code.startsWith("upstream_") ? "replica" : "client";
  }
  if (status >= 500 || status === 429) return "replica";
  return status >= 400 ? "client" : "nobody";
}

/** What a try says of its endpoint: "refused" is 503 or 429, so too much to do; "failed" is another 5xx, no response or a broken one. */
export type TryVerdict = "fine" | "refused" | "failed";

/** A try that was not sent, that the client ended, or whose kept connection was closed meanwhile says nothing against its endpoint. */
export function verdictOf(result: Attempt["result"]): TryVerdict {
  if (typeof result === "number") {
    if (result === 503 || result === 429) return "refused";
    return result >= 500 ? "failed" : "fine";
  }
  switch (result) {
    case "aborted":
    case "removed":
    case "saturated":
    case "stale":
      return "fine";
    default:
      return "failed";
  }
}
