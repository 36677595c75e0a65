import type { Attempt, Outcome } from "./outcome.ts";

/** What kept a request from what it asked for; "nothing": it got it. "no-replica": none was ready, or none serves its target. */
type Cause = "nothing" | "client-left" | "request" | "replica" | "no-replica" | "router";

/** Errors of the router that neither the client nor a replica caused. */
const ROUTER_CODES: ReadonlySet<string> = new Set(["internal_error", "overloaded", "plugin_fault", "saturated", "shutting_down"]);

/** What of an outcome says who is to blame. */
type Ending = Pick<Outcome, "status" | "ending" | "error"> & Partial<Pick<Outcome, "attempts">>;

function causeOf({ status, ending, error, attempts }: Ending): Cause {
  if (ending === "client-left") return "client-left";
  if (error !== undefined) return causeOfCode(error.code);
  if (attempts !== undefined && wasMalformed(attempts)) return "replica";
  if (status >= 500 || status === 429 || ending === "broken") return "replica";
  return status >= 400 ? "request" : "nothing";
}

function causeOfCode(code: string): Cause {
  if (code === "no_ready_endpoint" || code === "target_unavailable") return "no-replica";
  if (code.startsWith("upstream_")) return "replica";
  return ROUTER_CODES.has(code) ? "router" : "request";
}

/** Who kept a request from what it asked for; "nobody": it got it. */
export type Blame = "nobody" | "client" | "replica" | "router";

/**
 * client: a request that can't succeed (4xx), or one whose client left. replica: 5xx, 429, no response, a broken one,
 * or one that lacks what its API's responses have. router: it had no replica for the request, or failed itself.
 *
 * @example
 * const isOurs = blameOf(outcome) === "router";
 */
export function blameOf(outcome: Ending): Blame {
  return BLAMES[causeOf(outcome)];
}

const BLAMES: Readonly<Record<Cause, Blame>> = {
  nothing: "nobody",
  "client-left": "client",
  request: "client",
  replica: "replica",
  "no-replica": "router",
  router: "router",
};

/** Whose fault a failed request is, as the metrics tell it. */
export type ErrorClass = "client" | "router" | "replica";

/**
 * As `blameOf`, but for two: a client that left is no error, because nobody knows why it did; and where no replica could serve the
 * request, that counts as the replicas'. Undefined if the request did not fail.
 */
export function errorClassOf(outcome: Ending): ErrorClass | undefined {
  return ERROR_CLASSES[causeOf(outcome)];
}

const ERROR_CLASSES: Readonly<Record<Cause, ErrorClass | undefined>> = {
  nothing: undefined,
  "client-left": undefined,
  request: "client",
  replica: "replica",
  "no-replica": "replica",
  router: "router",
};

/** Whether the client got a response of status 2xx that lacks what its API's responses have: its times and tokens say nothing. */
export function wasMalformed(attempts: readonly Attempt[]): boolean {
  return attempts.length > 0 && attempts[attempts.length - 1]!.result === "malformed";
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
