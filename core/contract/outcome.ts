import type { Decision } from "./decision.ts";
import type { MirrorRecord } from "./mirror.ts";
import type { Principal } from "./principal.ts";
import type { InferenceRequest } from "./request.ts";
import type { SessionTurn } from "./session-turn.ts";
import type { ShadowChoice } from "./shadow.ts";
import type { Trace } from "./trace.ts";
import type { WaitRecord } from "./wait-record.ts";

/** How one request ended, without what refers to its body and its headers: this may be kept. */
export interface RequestRecord {
  readonly id: string;
  /** Type of the parser that serves the path; "" if none does. */
  readonly api: string;
  readonly method: string;
  readonly path: string;
  /** Who asked; undefined where the router asks for no keys, or knows none of this client. */
  readonly principal?: Principal | undefined;
  /** Of which session it is a turn; absent if it is of none, or nobody looks for sessions. */
  readonly session?: SessionTurn | undefined;
  /** The pool that it was sent to, or was to be; absent where there is only one. */
  readonly pool?: string | undefined;
  /** How it waited for room in the pool; absent if it did not. */
  readonly wait?: WaitRecord | undefined;
  /** Every try at an endpoint for its response, in order. */
  readonly attempts: readonly Attempt[];
  /** What became of its prompt on an endpoint of its own; absent if it had none. */
  readonly prefill?: PrefillRecord | undefined;
  /**
   * Status sent to the client; 0 when it left before one was sent. Where the client had got a head before there was a response
   * (`spec.keepAlive.beforeHeadMs`), that of the response.
   */
  readonly status: number;
  /** Whether the client got a whole response, left before that, or saw a response break off. */
  readonly ending: "complete" | "client-left" | "broken";
  /** The error that the router sent to the client; undefined if it sent none. */
  readonly error: OutcomeError | undefined;
  /** When it ended, in milliseconds since 1970. */
  readonly wallMs: number;
  readonly times: RequestTimes;
  /**
   * Time that the router itself took between the last body byte and the first dispatch, without waiting for admission, in
   * microseconds; NaN if the request was not dispatched.
   */
  readonly overheadUs: number;
  /** From the request's head to its end, in milliseconds. */
  readonly durationMs: number;
  /** From the request's last byte to the response's first body byte, in milliseconds; NaN without one. */
  readonly firstByteMs: number;
  /**
   * Time to the first token that was expected at the last endpoint when the request was dispatched there, in milliseconds; NaN
   * without a dispatch or a known prompt. Only streams show the first token: other responses come when the last one is generated.
   */
  readonly expectedFirstByteMs: number;
  /** Length of the request's body. */
  readonly requestBytes: number;
  /** Length of the response's body, as far as a replica sent it. */
  readonly responseBytes: number;
  /** What the replica reported; undefined if the response was not complete or reported nothing. */
  readonly usage: Usage | undefined;
  /** Prompt tokens believed cached at the endpoint that it was sent to; undefined without a prefix index. */
  readonly predictedTokens: number | undefined;
  /** Generated tokens, as reported; estimated from a response that reports none; NaN if unknown. */
  readonly outputTokens: number;
  readonly isOutputEstimated: boolean;
  /** Why the replica stopped generating, in its own word ("stop", "length", "end_turn" …), for the first choice; "" if unknown. */
  readonly finishReason: string;
  /** What became of its copies for mirrors; absent if it was drawn for none. A copy may go on after this: its record is filled in. */
  readonly mirrors?: readonly MirrorRecord[] | undefined;
  /** What features say of it, in sentences; absent where none says anything. */
  readonly notes?: readonly string[] | undefined;
  /** What the shadow profile would have done; absent if it did not decide this request. */
  readonly shadow?: ShadowChoice | undefined;
}

/**
 * How one request ended: plain data, made once at its end. Observers get it.
 *
 * @example
 * const isServed = outcome.ending === "complete" && outcome.error === undefined;
 */
export interface Outcome extends RequestRecord {
  /** Undefined for a request that could not be understood. */
  readonly request: InferenceRequest | undefined;
  readonly decision: Decision | undefined;
  /** Absent when the request is not traced. */
  readonly trace?: Trace | undefined;
}

/** Moments of one request, in milliseconds since its head was complete; NaN for what did not happen. */
export interface RequestTimes {
  /** The last byte of its body came. */
  readonly receivedMs: number;
  /** It was admitted; the decision began. */
  readonly admittedMs: number;
  /** The first decision was made. */
  readonly decidedMs: number;
  /** It was first handed to a connection to a replica. */
  readonly dispatchedMs: number;
  /** The first body byte of the response that was passed on came. */
  readonly firstByteMs: number;
  readonly endMs: number;
}

export interface OutcomeError {
  /** Stable; see `ErrorCode`. */
  readonly code: string;
  readonly message: string;
}

/** One try at one endpoint. */
export interface Attempt {
  readonly endpoint: string;
  /** The HTTP status, or why there was none. */
  readonly result: number | AttemptFailure;
  /** Milliseconds since the request's head was complete. */
  readonly startedMs: number;
  /** In the same unit; as `startedMs` if nothing was sent. */
  readonly endedMs: number;
}

/** Why a try brought no whole response, and the flag of that in the access log. */
export const ATTEMPT_FAILURES = {
  "connect-failed": "UF", // refused, unreachable, unknown name: nothing was sent
  "connect-timeout": "UF", // nothing was sent
  "passed-over": "UF", // a gateway was told of it, and had another endpoint serve, or none
  stale: "UC", // a kept-alive connection ended before a byte of a response
  reset: "UC", // the replica closed before its response was complete
  timeout: "UT", // no head, or no byte of the body, for too long
  gone: "UC", // no byte from a replica that is known to have stopped
  wedged: "EJ", // cut from this side, because the endpoint makes no progress
  invalid: "UPE", // not valid HTTP/1.1 (RFC 9112)
  malformed: "UM", // a whole response with status 2xx that lacks what its API's responses have; the client got it
  aborted: "DC", // the client left, or the router stopped
  saturated: "UO", // no connection to spare: nothing was sent
  removed: "UH", // the endpoint had left the pool before its try: nothing was sent
} as const;

export type AttemptFailure = keyof typeof ATTEMPT_FAILURES;

/** What a replica reports at the end of a response; NaN for a number that it does not report, undefined for one that many never do. */
export interface Usage {
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens that its cache held. */
  readonly cachedTokens?: number | undefined;
  /** Prompt tokens of the parts that are not text. */
  readonly partTokens?: number;
}

/** What a response, or what came of it, says of its generation; see Outcome. */
export type Generated = Pick<RequestRecord, "usage" | "outputTokens" | "isOutputEstimated" | "finishReason">;

/** What became of a request's prompt on an endpoint of its own. Moments are in milliseconds since the request's head. */
export interface PrefillRecord {
  /** How the cache moves: the name of a transfer. */
  readonly transfer: string;
  /** The endpoint that processed the prompt, or was to; "" before one was tried. */
  readonly endpoint: string;
  /** "" as long as it is under way. alone: the answer was generated without it. */
  readonly end: "" | "transferred" | "alone";
  /** Why it was generated without it; "" if it was not. */
  readonly cause: string;
  /** From its first try to the response that says where the cache is; NaN without one. */
  readonly tookMs: number;
  /** From the first byte sent for the answer to its first token, with what was transferred; NaN without one. */
  readonly transferMs: number;
  readonly expectedTransferMs: number;
  /** Of the prompt's tokens, those that its endpoint had cached, as it reports; NaN if it does not. */
  readonly cachedTokens: number;
  /** Every try at an endpoint for the prompt, in order. */
  readonly attempts: readonly Attempt[];
}
