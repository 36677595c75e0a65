import type { Field } from "./header-table.ts";
import type { Http2Stream, StreamReader, UnsentCounter } from "./http2-stream.ts";

/** What all streams of a connection together may send ahead. One stream has the protocol's default. */
export const RECEIVE_WINDOW = 8 * 1024 * 1024;
/** With so many bytes not taken by the peer, streams ask for a pause; with the second number, the connection ends. */
export const FULL_BYTES = 1024 * 1024;
export const OVERFULL_BYTES = 64 * 1024 * 1024;

export interface Http2Options {
  /** Most bytes of a stream's headers. */
  readonly headBytes: number;
  readonly maxStreams: number;
  readonly unsent: UnsentCounter;
  /** A stream begins. */
  accept(headers: readonly Field[], stream: Http2Stream): StreamReader;
  /** The connection is closed; every stream's reader knows it. */
  closed(): void;
}
