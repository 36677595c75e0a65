/**
 * What became of one mirror's copy of a request: plain data. The copy may go on when its request has ended; then what is known of it
 * grows in here until `ending` is set.
 *
 * @example
 * const copies = outcome.mirrors?.filter(({ skipped }) => skipped === "") ?? [];
 */
export interface MirrorRecord {
  readonly rule: string;
  /** The model name that the copy was sent with. */
  readonly target: string;
  /** Why no copy was sent; "" if one was. */
  readonly skipped: MirrorSkip | "";
  /** Where it was sent; "" if it was not. */
  readonly endpoint: string;
  /** 0 before the response's head. */
  readonly status: number;
  /** From the copy's dispatch to the first body byte of its response, in milliseconds; NaN before. */
  readonly firstByteMs: number;
  /** Bytes of its response that were read and thrown away. */
  readonly responseBytes: number;
  /** How it ended; "" while it is under way, and if no copy was sent. */
  readonly ending: MirrorEnding | "";
}

export const MIRROR_SKIPS = [
  "same-target", // the request itself went to the mirror's target
  "not-repeatable", // the replica would keep a second result
  "in-flight", // the mirror has as many copies under way as it may
  "memory", // more than half of the memory for bodies is used
  "no-endpoint", // no available endpoint lists the target, or the filters left none
  "connections", // the endpoint has few connections to spare
  "fault", // a plugin failed
] as const;

export type MirrorSkip = (typeof MIRROR_SKIPS)[number];

export const MIRROR_ENDINGS = [
  "complete",
  "client-left", // the client gave up its own request
  "time-limit",
  "too-large", // its response was longer than is read of one
  "memory", // its body's memory was needed for a client's request
  "stopped", // the router stops, its config changed, or the endpoint is not available any more
  "connect-failed", // and what follows as for any try at an endpoint
  "connect-timeout",
  "stale",
  "reset",
  "timeout",
  "wedged",
  "gone",
  "invalid",
] as const;

export type MirrorEnding = (typeof MIRROR_ENDINGS)[number];
