import type { Attempt, RequestRecord } from "../contract/outcome.ts";

/** Who kept a request from what it asked for; "nobody": it got it. */
export type Blame = "nobody" | "client" | "replica" | "router";

/** Whose fault a failed request is, as the metrics tell it. */
export type ErrorClass = "client" | "router" | "replica";

/** What a try says of its endpoint: "refused" is 503 or 429, so too much to do; "failed" is another 5xx but 501, no response or a broken one. */
export type TryVerdict = "fine" | "refused" | "failed";

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

/** It says that the replica does not have the path, and nothing of how the replica is. */
const NOT_IMPLEMENTED = 501;

function causeOf(outcome: RequestRecord): keyof typeof CAUSES {
  const { ending, error, attempts } = outcome;
  if (ending === "client-left") return "clientLeft";
  if (error !== undefined) return causeOfCode(error.code);
  if (wasMalformed(attempts)) return "replica";
  const status = saidStatusOf(outcome);
  if (status === NOT_IMPLEMENTED) return "request";
  if (status >= 500 || status === 429 || ending === "broken") return "replica";
  return status >= 400 ? "request" : "nothing";
}

function causeOfCode(code: string): keyof typeof CAUSES {
  if (code === "no_ready_endpoint" || code === "target_unavailable") return "noReplica";
  if (code.startsWith("upstream_")) return "replica";
  return ROUTER_CODES.has(code) ? "router" : "request";
}

/**
 * client: a request that can't succeed (4xx, 501), or one whose client left. replica: another 5xx, 429, no response or a broken one. router: it had
 * no replica for the request, or failed itself.
 */
export function blameOf(outcome: RequestRecord): Blame {
  return CAUSES[causeOf(outcome)][0];
}

/**
 * As `blameOf`, with two differences: a client that left is no error, because nobody knows why it did; and if no replica could serve the
 * request, the replicas are blamed. Undefined if the request did not fail.
 */
export function errorClassOf(outcome: RequestRecord): ErrorClass | undefined {
  return CAUSES[causeOf(outcome)][1];
}

/** Results that prove nothing against the endpoint: not sent, ended by the client, or the kept connection was closed meanwhile. */
const BLAMELESS: ReadonlySet<Attempt["result"]> = new Set(["aborted", "passed-over", "removed", "saturated", "stale"] as const);

export function verdictOf(result: Attempt["result"]): TryVerdict {
  if (result === 503 || result === 429) return "refused";
  const isFailure = typeof result === "number" ? result >= 500 && result !== NOT_IMPLEMENTED : !BLAMELESS.has(result);
  return isFailure ? "failed" : "fine";
}

/** The status that the client got, or that of an error which a replica said inside of a response with status 2xx. */
export function saidStatusOf({ status, error, attempts }: RequestRecord): number {
  if (status >= 300 || error !== undefined || attempts.length === 0) return status;
  const { result } = attempts[attempts.length - 1]!;
  return typeof result === "number" ? result : status;
}

/** Whether the client got what it asked for, as far as it went: only then its times and tokens say something of a generation. */
export function wasServed(outcome: RequestRecord): boolean {
  const status = saidStatusOf(outcome);
  return status >= 200 && status < 300 && !wasMalformed(outcome.attempts);
}

/** Whether the client got a response of status 2xx that lacks what its API's responses have. */
export function wasMalformed(attempts: readonly Attempt[]): boolean {
  return attempts.length > 0 && attempts[attempts.length - 1]!.result === "malformed";
}
