/**
 * How a request waited for room in the pool.
 *
 * @example
 * const hasWaitedLong = outcome.wait !== undefined && outcome.wait.waitedMs > 1_000;
 */
export interface WaitRecord {
  readonly tenant: string;
  readonly priority: number;
  /** What it was expected to take: tokens of its prompt and of its response. */
  readonly tokens: number;
  /** Its place when it came, among those of its priority and above; 1 is the first. */
  readonly position: number;
  /** Why it had to wait, in words. */
  readonly reason: string;
  /** How it ended; "" while it waits. */
  readonly end: WaitEnd | "";
  /** How long it waited, in milliseconds; NaN while it does. */
  readonly waitedMs: number;
}

/** admitted: it went on. timed-out, shed: it got 429. left: its client went away, or the router stopped. */
export type WaitEnd = "admitted" | "timed-out" | "shed" | "left";
