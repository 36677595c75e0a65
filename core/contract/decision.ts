import type { UpstreamFailure } from "../wire/upstream-connection.ts";
import type { Endpoint } from "./endpoint.ts";
import type { RouterError } from "./errors.ts";
import type { InferenceRequest } from "./request.ts";

/** What was chosen and why: plain data, enough to answer "why did it go there?". */
export interface Decision {
  readonly requestId: string;
  readonly profile: string;
  readonly model: string;
  readonly target: string;
  readonly rule: string;
  /** Every endpoint of the pool at that moment. */
  readonly endpoints: readonly Endpoint[];
  /** Who was dropped, by which filter, in the order the filters ran. */
  readonly dropped: readonly Dropped[];
  /** Who was left to be scored. */
  readonly candidates: readonly Endpoint[];
  /** Each scorer's numbers, aligned with `candidates`; null = no opinion. */
  readonly scores: readonly ScorerColumn[];
  /** Weighted mean of the opinions, aligned with `candidates`; higher is better. */
  readonly totals: ArrayLike<number>;
  /** Best first; the rest are spares for a retry. Empty when `refusal` says why. */
  readonly order: readonly Endpoint[];
  readonly refusal: RouterError | undefined;
  /** Plugins that broke their contract on this request. */
  readonly faults: readonly Fault[];
}

export interface Dropped {
  readonly filter: string;
  readonly endpoints: readonly Endpoint[];
}

export interface ScorerColumn {
  readonly scorer: string;
  readonly weight: number;
  readonly values: ArrayLike<number | null>;
  /** How much each value counted beside the weight; absent when all counted fully. */
  readonly confidences?: ArrayLike<number>;
}

export interface Fault {
  readonly plugin: string;
  readonly message: string;
}

/** One try at one endpoint. */
export interface Attempt {
  readonly endpoint: string;
  /** HTTP status, or why there was none. */
  readonly result: number | UpstreamFailure | "aborted" | "saturated";
}

/** What a replica reports at the end of an answer; NaN where it does not say. */
export interface Usage {
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens that came out of its cache. */
  readonly cachedTokens: number;
}

/** Everything an observer learns when a request has ended. */
export interface RequestRecord {
  readonly request: InferenceRequest | undefined;
  readonly decision: Decision | undefined;
  readonly attempts: readonly Attempt[];
  readonly id: string;
  /** Type of the parser that serves the path; "" where none does. */
  readonly api: string;
  readonly method: string;
  readonly path: string;
  /** Status sent to the client; 0 when it left before one was sent. */
  readonly status: number;
  readonly errorCode: string;
  /** How it ended: completed, the client left, or the stream broke after its head was sent. */
  readonly ending: "complete" | "client-left" | "broken";
  readonly wallMs: number;
  readonly durationMs: number;
  /** From the request's last byte to the response's first body byte; NaN without one. */
  readonly firstByteMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Absent where the answer was not complete or reports nothing. */
  readonly usage?: Usage | undefined;
  /** Prompt tokens that the router believed cached at the endpoint it sent the request to; absent without a prefix index. */
  readonly predictedTokens?: number | undefined;
}
