import type { HeaderView } from "../request.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Who looks at a response while it passes? Called when the head of the response that the client gets has come. Undefined: this one is not
 * looked at.
 *
 * @example
 * tap: (_run, response) => {
 *   let bytes = 0;
 *   const read = (_chunk, spans, count) => {
 *     for (let i = 0; i < count; i++) bytes += spans[2 * i + 1] - spans[2 * i];
 *   };
 *   return { read, end: (isWhole) => host.output.print(`${response.status} ${isWhole} ${bytes}`) };
 * }
 */
export interface TapSlot {
  tap?(run: RequestRun, response: TappedResponse): Tap | undefined;
}

/** The response of a replica, as it passes. */
export interface TappedResponse {
  readonly status: number;
  readonly headers: HeaderView;
  /** In bytes; -1 if it is not known before the end. */
  readonly length: number;
  readonly isEventStream: boolean;
  /** Whether the client stands between two events of an event stream: only there may a tap insert one. */
  readonly isBetweenEvents: boolean;
  /** Sends bytes of the tap's own to the client of an event stream. Returns false when the client can't take more now. */
  insert(bytes: Uint8Array): boolean;
}

/** Is told of one response until its end. */
export interface Tap {
  /** Body bytes pass: `spanCount` pairs [start, end) in `chunk`, which is used again after the call. Returns at once, without a promise. */
  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void;
  /** The client can't take more bytes now. */
  paused?(): void;
  resumed?(): void;
  /** It is over. `isWhole`: it came to its end, and lacks nothing that its API asks for. */
  end(isWhole: boolean): void;
}
