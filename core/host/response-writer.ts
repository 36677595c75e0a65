import type { Gateway } from "../pool/gateway.ts";
import type { Door } from "./door.ts";

/**
 * How a host (the wire server, the fetch face) gets a response. Calls come in the order start, write*, then end or abort; after
 * the client has left they do nothing.
 */
export interface ResponseWriter {
  /** Set where the host sends the request on by itself: then it passes on what comes back, too. */
  readonly gateway?: Gateway | undefined;
  /** Set where the request is no HTTP request. */
  readonly door?: Door | undefined;
  /** The bytes behind the head are the body, whatever the head says. A host that has none can't switch to another protocol. */
  takeConnection?(): void;
  /** True once a byte of the response may have been sent. */
  readonly hasStarted: boolean;
  /** Asks for no more of the request's body (true), until it may go on (false). What is already read may still be handed over. */
  holdBody(isHeld: boolean): void;
  /**
   * Starts the response. `lines` are complete header lines ("Name: value\r\n") without framing headers;
   * `length` is the body's length in bytes, or -1 if it is not known before `end`.
   */
  start(status: number, reason: string, lines: string, length: number): void;
  /**
   * Writes body bytes: `spanCount` [start, end) pairs into `chunk`. `isVerbatim`: the whole `chunk` is well-formed chunked
   * framing of exactly those spans. Returns false when the caller should pause until `drained`.
   */
  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean;
  /** Sends what `start` and `write` have buffered; called once for each read from the replica. */
  flush(): void;
  /** Ends the response. `isVerbatimEnd`: the last verbatim chunk already held the end of the chunked framing. */
  end(isVerbatimEnd?: boolean): void;
  /** Ends a started response so that no client can take it for complete, after sending `lastWords` as part of the body. */
  abort(lastWords: string | Uint8Array): void;
}

/**
 * Milliseconds between the last words of a broken response and the end of its connection. Clients discard what they have not read
 * yet as soon as they see that the response is incomplete.
 */
export const LAST_WORDS_MS = 50;
