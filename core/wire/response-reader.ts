import type { ResponseSink } from "./response-decoder.ts";

/** Why there is no response, or no complete one. */
export type UpstreamFailure =
  | "connect-failed" // refused, unreachable, unknown name or failed TLS handshake
  | "connect-timeout"
  | "stale" // the replica had closed a kept-alive connection: no byte of a response came
  | "reset" // the replica closed the connection before the response was complete
  | "timeout" // no head for too long, or silence inside the body
  | "wedged" // cut from this side, because the replica makes no progress
  | "gone" // silence on a replica that the prober has found gone
  | "invalid"; // not HTTP/1.1 (RFC 9112)

/** Receives one response: head, body pieces, then exactly one of `end` and `failed`, after which nothing more comes. */
export interface ResponseReader extends ResponseSink {
  /** Its first token comes as soon as its prompt is processed. */
  readonly isStream: boolean;
  /** Whether the prompt is processed: bytes of a body came, of a stream some behind its opening events. */
  readonly hasTokens: boolean;
  /** The response is complete. `isVerbatimEnd`: the last `body` call carried the end of the chunked framing. */
  end(isVerbatimEnd: boolean): void;
  /**
   * There will be no response, or no more of it. `isDelivered`: the request was written to an open connection, in whole or in
   * part, so the replica may have worked on it. False only for a connection that never opened.
   */
  failed(failure: UpstreamFailure, isDelivered: boolean): void;
  /** Everything from one read has been handed over. */
  readDone(): void;
}
