import type { Head } from "../wire/head.ts";

/**
 * How a host (the wire server, the fetch face) takes an answer. Calls come in the order start, write*, then end or abort;
 * after the client has left they do nothing.
 */
export interface Reply {
  /** True once a byte of the answer may have been sent. */
  readonly hasStarted: boolean;
  /**
   * Starts the answer. `lines` are complete header lines ("Name: value\r\n") without framing;
   * `length` is the body's length in bytes, or -1 for a body that ends when it ends.
   */
  start(status: number, reason: string, lines: string, length: number): void;
  /**
   * Body bytes: `spanCount` [start, end) pairs into `chunk`. `isVerbatim` says the whole of `chunk` is already well-formed
   * chunked framing of exactly those spans. False asks the caller to pause until `drained`.
   */
  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean;
  /** Sends what `start` and `write` may have held back; called once per read from the replica. */
  flush(): void;
  /** `isVerbatimEnd` says the last verbatim chunk already carried the end of the chunked framing. */
  end(isVerbatimEnd?: boolean): void;
  /** Ends a started answer so that no client can take it for complete; `lastWords` are body bytes sent before that. */
  abort(lastWords: string): void;
}

/**
 * How long the last words of a broken answer stay readable before its connection ends: clients drop what they have not read
 * yet as soon as they see that the answer is incomplete.
 */
export const LAST_WORDS_MS = 50;

/** What a host calls as one request goes on. `clientGone` may come at any time, and is then the last call. */
export interface RequestReceiver {
  /** `chunk` is the caller's again once this returns: copy what must stay. */
  body(chunk: Uint8Array, start: number, end: number): void;
  bodyEnd(): void;
  clientGone(): void;
  /** The client takes bytes again after `write` returned false. */
  drained(): void;
  /** The host is stopping by force: answer with an error, or break a started answer off. */
  stop(): void;
}

/** Starts one request; called when its head is complete. `bodyLength` is -1 for chunked, 0 for none. */
export type RequestStarter = (head: Head, bodyLength: number, reply: Reply, peer: string) => RequestReceiver;
