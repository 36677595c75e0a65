/**
 * How a host (the wire server, the fetch face) takes a response. Calls come in the order start, write*, then end or abort;
 * after the client has left they do nothing.
 */
export interface ResponseWriter {
  /** True once a byte of the response may have been sent. */
  readonly hasStarted: boolean;
  /**
   * Starts the response. `lines` are complete header lines ("Name: value\r\n") without framing;
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
  /** Ends a started response so that no client can take it for complete; `lastWords` are body bytes sent before that. */
  abort(lastWords: string): void;
}

/**
 * How long the last words of a broken response stay readable before its connection ends: clients drop what they have not read
 * yet as soon as they see that the response is incomplete.
 */
export const LAST_WORDS_MS = 50;
