/** No server ends idle connections sooner on purpose; whatever ends them sooner is no habit. */
const LEAST_MS = 1_000;
/** Times of the same timeout differ by so much at most. */
const TOLERANCE = 0.1;
const SAID = /(?:^|[,;\s])timeout\s*=\s*(\d{1,6})/i;

/**
 * After how long a replica ends idle connections: what it says (`Keep-Alive: timeout=5`), or did twice, at moments of their own. A crash
 * or a restart ends all connections at one moment, after whatever time each had been idle, and is no habit.
 */
export class IdleHabit {
  #saidMs = Number.POSITIVE_INFINITY;
  #seenMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NaN;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  /** The Keep-Alive header of one of its responses. */
  said(keepAlive: string | undefined): void {
    const seconds = keepAlive && SAID.exec(keepAlive)?.[1];
    if (seconds) this.#saidMs = Math.max(LEAST_MS, Number(seconds) * 1000);
  }

  /** The replica ended a connection that had been idle for so long. */
  ended(idleMs: number, nowMs: number): void {
    if (idleMs < LEAST_MS || nowMs - this.#lastAtMs < LEAST_MS) return;
    if (Math.abs(idleMs - this.#lastMs) <= TOLERANCE * idleMs) this.#seenMs = Math.min(idleMs, this.#lastMs);
    this.#lastMs = idleMs;
    this.#lastAtMs = nowMs;
  }

  /** Whether a connection that has been idle for so long is closed at the replica's end, or about to be. */
  hasClosed(idleMs: number): boolean {
    return idleMs >= (1 - TOLERANCE) * Math.min(this.#saidMs, this.#seenMs);
  }

  /** Another process is there. */
  forget(): void {
    this.#saidMs = Number.POSITIVE_INFINITY;
    this.#seenMs = Number.POSITIVE_INFINITY;
    this.#lastMs = Number.NaN;
  }
}
