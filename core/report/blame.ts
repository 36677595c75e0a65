import type { Attempt, Outcome } from "../contract/outcome.ts";

/** Who kept a request from what it asked for; "nobody": it got it. */
export type Blame = "nobody" | "client" | "replica" | "router";

/** Whose fault a failed request is, as the metrics tell it. */
export type ErrorClass = "client" | "router" | "replica";

/** What a try says of its endpoint: "refused" is 503 or 429, so too much to do; "failed" is another 5xx, no response or a broken one. */
export type TryVerdict = "fine" | "refused" | "failed";

/** What of an outcome says who is to blame. */
type Ended = Pick<Outcome, "status" | "ending" | "error"> & Partial<Pick<Outcome, "attempts">>;

/** What kept a request from what it asked for, with its blame and its class in the metrics. */
const CAUSES = {
  nothing: ["nobody", undefined],
  clientLeft: ["client", undefined],
  request: ["client", "client"],
  replica: ["replica", "replica"],
  /** None was ready, or none serves its target. */
  noReplica: ["router", "replica"],
  router: ["router", "router"],
} as const satisfies Record<string, readonly [Blame, ErrorClass | undefined]>;

/** Errors of the router that neither the client nor a replica caused. */
const ROUTER_CODES: ReadonlySet<string> = new Set([
  ...["authentication_unavailable", "internal_error", "overloaded", "plugin_fault", "saturated", "queue_full", "queue_timeout"],
  "shutting_down",
]);

function causeOf({ status, ending, error, attempts }: Ended): keyof typeof CAUSES {
  if (ending === "client-left") return "clientLeft";
  if (error !== undefined) return causeOfCode(error.code);
  if (attempts !== undefined && wasMalformed(attempts)) return "replica";
  if (status >= 500 || status === 429 || ending === "broken") return "replica";
  return status >= 400 ? "request" : "nothing";
}

function causeOfCode(code: string): keyof typeof CAUSES {
  if (code === "no_ready_endpoint" || code === "target_unavailable") return "noReplica";
  if (code.startsWith("upstream_")) return "replica";
  return ROUTER_CODES.has(code) ? "router" : "request";
}

/**
 * client: a request that can't succeed (4xx), or one whose client left. replica: 5xx, 429, no response or a broken one. router: it had
 * no replica for the request, or failed itself.
 */
export function blameOf(outcome: Ended): Blame {
  return CAUSES[causeOf(outcome)][0];
}

/**
 * As `blameOf`, but for two: a client that left is no error, because nobody knows why it did; and where no replica could serve the
 * request, that counts as the replicas'. Undefined if the request did not fail.
 */
export function errorClassOf(outcome: Ended): ErrorClass | undefined {
  return CAUSES[causeOf(outcome)][1];
}

/** They say nothing against the endpoint: not sent, ended by the client, or its kept connection was closed meanwhile. */
const BLAMELESS: ReadonlySet<Attempt["result"]> = new Set(["aborted", "removed", "saturated", "stale"] as const);

export function verdictOf(result: Attempt["result"]): TryVerdict {
  if (result === 503 || result === 429) return "refused";
  const isFailure = typeof result === "number" ? result >= 500 : !BLAMELESS.has(result);
  return isFailure ? "failed" : "fine";
}

/** Whether the client got a response of status 2xx that lacks what its API's responses have: its times and tokens say nothing. */
export function wasMalformed(attempts: readonly Attempt[]): boolean {
  return attempts.length > 0 && attempts[attempts.length - 1]!.result === "malformed";
}
