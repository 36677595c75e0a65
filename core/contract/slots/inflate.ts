import type { Generated } from "../outcome.ts";
import type { HeaderView } from "../request.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Who reads what a replica reports in a response with Content-Encoding? Called when the head of such a response has come, which the client
 * gets as it is. Undefined, and without a feature: nothing is known of its tokens. Only one feature of the router's own fills this slot.
 *
 * @example
 * inflate: () => undefined
 */
export interface InflateSlot {
  inflate?(run: RequestRun, head: HeaderView, form: BodyForm): ReportTap | undefined;
}

/** How a response holds the text that was generated. */
export type BodyForm = "events" | "document" | "no text";

/** Finds what a replica reports while its response passes. */
export interface ReportTap {
  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. Call `readDone` before the chunk is overwritten. */
  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void;
  /** Everything from one read has been handed over. */
  readDone(): void;
  /** The last bytes of the response so far, valid until the next call; undefined if none came, or they can't be read. */
  tail(): Uint8Array | undefined;
  /**
   * Returns what is known and frees the memory. `isComplete` is false if the response broke off: it has no usage then.
   *
   * @param bytes - of the whole response
   * @param events - of an event stream, all that have ended, in case that it reports no usage
   * @param mostTokens - no estimate exceeds it: the client's limit on generated tokens, or 0 for an error
   */
  finish(isComplete: boolean, bytes: number, events?: number, mostTokens?: number): Generated;
}
