import type { Outcome } from "./outcome.ts";

/** Whose fault a failed request is. */
export type ErrorClass = "client" | "router" | "replica";

/** Errors of the router's own that say that a replica failed, or that none could serve the request. */
const OF_REPLICAS: ReadonlySet<string> = new Set([
  "upstream_unreachable",
  "upstream_reset",
  "upstream_invalid",
  "upstream_timeout",
  "no_ready_endpoint",
  "target_unavailable",
]);
/** Those that say that the router refused or broke what it might have served. All others are about the request itself. */
const OF_THE_ROUTER: ReadonlySet<string> = new Set([
  "plugin_fault",
  "internal_error",
  "saturated",
  "overloaded",
  "shutting_down",
]);

/**
 * Whose fault it is that a request failed; undefined if it did not fail. A client that left is no error: nobody knows why it did.
 * Of statuses that a replica sent, 429 and 5xx are the replica's, other 4xx are the client's.
 */
export function errorClassOf({ ending, error, status }: Pick<Outcome, "ending" | "error" | "status">): ErrorClass | undefined {
  if (ending === "client-left") return undefined;
  if (error !== undefined) return classOfCode(error.code);
  if (status >= 500 || status === 429 || ending === "broken") return "replica";
  return status >= 400 ? "client" : undefined;
}

function classOfCode(code: string): ErrorClass {
  if (OF_REPLICAS.has(code)) return "replica";
  return OF_THE_ROUTER.has(code) ? "router" : "client";
}
