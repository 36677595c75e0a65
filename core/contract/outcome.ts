import type { Decision } from "./decision.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * How one request ended: plain data, made once, when all is over. Observers get it.
 *
 * @example
 * const isServed = outcome.ending === "complete" && outcome.error === undefined;
 */
export interface Outcome {
  readonly id: string;
  /** Type of the parser that serves the path; "" where none does. */
  readonly api: string;
  readonly method: string;
  readonly path: string;
  /** Undefined for a request that could not be understood. */
  readonly request: InferenceRequest | undefined;
  readonly decision: Decision | undefined;
  /** Every try at an endpoint, in order. */
  readonly attempts: readonly Attempt[];
  /** Status sent to the client; 0 when it left before one was sent. */
  readonly status: number;
  /** Whether the client got a whole response, left before that, or saw a response break off. */
  readonly ending: "complete" | "client-left" | "broken";
  /** What the router told the client went wrong; undefined where it told nothing. */
  readonly error: OutcomeError | undefined;
  /** When it ended, in milliseconds since 1970. */
  readonly wallMs: number;
  /** From the request's head to its end. */
  readonly durationMs: number;
  /** From the request's last byte to the response's first body byte; NaN without one. */
  readonly firstByteMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** What the replica reports; undefined where the response was not complete or reports nothing. */
  readonly usage: Usage | undefined;
  /** Prompt tokens believed cached at the endpoint that it was sent to; undefined without a prefix index. */
  readonly predictedTokens: number | undefined;
}

interface OutcomeError {
  /** Stable; see `ErrorCode`. */
  readonly code: string;
  readonly message: string;
}

/** One try at one endpoint. */
export interface Attempt {
  readonly endpoint: string;
  /** The HTTP status, or why there was none. */
  readonly result: number | AttemptFailure;
}

export type AttemptFailure =
  | "connect-failed" // refused, unreachable, name unknown: nothing was sent
  | "connect-timeout" // nothing was sent
  | "stale" // a kept-alive connection ended before a byte of a response
  | "reset" // the replica closed before its response was complete
  | "timeout" // no head, or silence inside the body, for too long
  | "gone" // silence on a replica that is known to be gone
  | "wedged" // the endpoint was ejected because it makes no progress
  | "invalid" // not HTTP/1.1 as RFC 9112 has it
  | "aborted" // the client left, or the router stopped
  | "saturated" // no connection to spare: nothing was sent
  | "removed"; // it had left the pool when its turn came: nothing was sent

/** What a replica reports at the end of a response; NaN where it does not say. */
export interface Usage {
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens that came out of its cache. */
  readonly cachedTokens: number;
}
