import type { UpstreamFailure } from "../wire/response-reader.ts";

/** The result of one try. */
export type TryEvent =
  /** Nothing was sent: no connection to spare, or the endpoint has left the pool. */
  | { readonly type: "not-sent" }
  /** No whole response. `isDelivered`: bytes of the request were written to a connection that was open, as far as is known. */
  | { readonly type: "failed"; readonly failure: UpstreamFailure; readonly isDelivered: boolean }
  /** A response's head came. */
  | { readonly type: "status"; readonly status: number }
  /** A whole 404 came: the replica does not list the target, and does not have it, or the path. `isConfigured`: the config names the target. */
  | { readonly type: "missing"; readonly isConfigured: boolean };

/** What happened before, and what is still possible. */
export interface TryState {
  /** Bytes of the response may have been sent to the client. */
  readonly hasStarted: boolean;
  /** A replica may have processed an earlier try, but there is no response to it. */
  readonly wasDelivered: boolean;
  /** A kept connection ended during the try, and the replica has not answered on a fresh one since: the request may have killed it. */
  readonly mayHaveDied: boolean;
  /** Endpoints are left in the order. */
  readonly hasSpare: boolean;
  /** Further tries that the limits allow on other replicas. */
  readonly retriesLeft: number;
  /** All requests together have not used up their retries after deliveries. */
  readonly hasBudget: boolean;
  /** The config allows a request that was cut on a wedged replica to go to another one, and the request may be repeated. */
  readonly mayLeaveWedged: boolean;
  /** The limits allow one more delivery after a kept connection that ended, and this request has not used it up. */
  readonly mayTryFresh: boolean;
}

/**
 * relay: pass the response on. next: try the next endpoint. fresh: try the one whose kept connection ended on a new one. again: choose
 * anew among all endpoints. fail: send an error.
 */
export type NextStep = "relay" | "next" | "fresh" | "again" | "fail";

/**
 * Decides what to try next, by what was delivered:
 *
 * | event                                              | step                                                      |
 * | -------------------------------------------------- | --------------------------------------------------------- |
 * | bytes of a response were sent to the client        | fail, for any later failure                               |
 * | an earlier try was delivered and has no response   | relay a response, else fail: no other replica gets it     |
 * | nothing was sent                                   | next while there is one; costs no retry                   |
 * | connect failed or timed out                        | next, if a spare and a retry are left                     |
 * | stale: a kept connection ended without a byte      | fresh, once: a replica that answers there has not died     |
 * | after that: no connection                          | fail: it may have died of the request; as above where it  |
 * |                                                    | had closed the kept one before                            |
 * | wedged: cut on a replica that makes no progress     | next, if the config allows it and all the above are left  |
 * | any other failure after delivery                   | fail                                                      |
 * | status 503 or 429: the replica did not process it  | next, if a spare, a retry and budget are left; else relay |
 * | any other status                                   | relay                                                     |
 * | 404 for a target that the replica does not list    | again; if only a client named it, a retry and budget must |
 * |                                                    | be left, else relay                                       |
 */
export function nextStep(event: TryEvent, state: TryState): NextStep {
  const { hasStarted, wasDelivered, hasSpare, retriesLeft, hasBudget, mayTryFresh, mayHaveDied, mayLeaveWedged } = state;
  const mayTryNext = !wasDelivered && hasSpare && retriesLeft > 0;
  switch (event.type) {
    case "status":
      return isOverload(event.status) && mayTryNext && hasBudget ? "next" : "relay";
    case "missing":
      if (wasDelivered) return "relay";
      return event.isConfigured || (retriesLeft > 0 && hasBudget) ? "again" : "relay";
    case "not-sent":
      return hasSpare && !wasDelivered && !mayHaveDied ? "next" : "fail";
    case "failed":
      if (hasStarted) return "fail";
      if (event.failure === "stale") return mayTryFresh ? "fresh" : "fail";
      if (event.failure === "wedged") return mayLeaveWedged && mayTryNext && hasBudget ? "next" : "fail";
      return mayTryNext && !event.isDelivered && !mayHaveDied ? "next" : "fail";
  }
}

/** Whether the status means that the replica refused the request without processing it. */
export function isOverload(status: number): boolean {
  return status === 503 || status === 429;
}
