import { DEFAULT_WINDOW, numbersFrame, SETTING, settingsFrame, TYPE } from "./frames.ts";
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
  /** The time in milliseconds. */
  nowMs(): number;
  /** A stream begins: a request to this path. */
  accept(path: string, stream: Http2Stream): StreamReader;
  /** The connection is closed; every stream's reader knows it. */
  closed(): void;
}

/** What the server says first. */
export function ownSettings({ maxStreams, headBytes }: Http2Options): Buffer {
  const settings = settingsFrame([
    [SETTING.maxConcurrentStreams, maxStreams],
    [SETTING.maxHeaderList, headBytes],
  ]);
  return Buffer.concat([settings, numbersFrame(TYPE.windowUpdate, 0, [RECEIVE_WINDOW - DEFAULT_WINDOW])]);
}
