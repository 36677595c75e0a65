import type { Limits } from "../../../core/settings.ts";
import type { Deadlines, Timed } from "../../../core/wire/deadlines.ts";
import type { UnreadCounter } from "../../../core/wire/write-progress.ts";
import type { Http2Connection } from "./http2-connection.ts";
import type { Http2Stream } from "./http2-stream.ts";

/**
 * Ends a connection whose peer does not begin as one of HTTP/2 in time, does not end its headers, does not close it when all is said,
 * or takes nothing for too long;
 * and a stream of which it takes nothing.
 */
export class WatchedConnection implements Timed {
  readonly #connection: Http2Connection;
  readonly #deadlines: Deadlines;
  readonly #limits: Limits;
  readonly #memory: UnreadCounter;
  /** What waits for the socket, as it was counted last; what waits for windows is counted where it comes and goes. */
  #countedBytes = 0;
  readonly #prefaceByMs: number;
  /** What waits for the socket or for windows, and until when the peer must take some of it. */
  #unsentBytes = 0;
  #takesByMs = 0;
  /** Since when the peer is in the middle of a step, as far as sweeps have seen. */
  #stepSinceMs = Number.POSITIVE_INFINITY;
  /** Streams with something to send: what they had sent, and since when it is no more. */
  readonly #stalled = new Map<Http2Stream, { readonly sentBytes: number; readonly sinceMs: number }>();

  constructor(connection: Http2Connection, deadlines: Deadlines, limits: Limits, memory: UnreadCounter) {
    this.#connection = connection;
    this.#deadlines = deadlines;
    this.#limits = limits;
    this.#memory = memory;
    this.#prefaceByMs = deadlines.nowMs + limits.headTimeoutMs;
    deadlines.add(this);
  }

  sweep(nowMs: number): void {
    const { waitingBytes, hasPreface, isMidStep, waiting } = this.#connection;
    this.#count(waitingBytes);
    let queuedBytes = 0;
    for (const stream of waiting) queuedBytes += stream.queuedBytes;
    this.#stepSinceMs = isMidStep ? Math.min(this.#stepSinceMs, nowMs) : Number.POSITIVE_INFINITY;
    const isLate = !hasPreface && nowMs >= this.#prefaceByMs;
    const isStepLate = nowMs - this.#stepSinceMs >= this.#limits.headTimeoutMs;
    if (this.#isStalled(waitingBytes + queuedBytes, nowMs) || isLate || isStepLate) this.#connection.destroy();
    else this.#sweepStreams(nowMs);
  }

  /** Whether the peer has taken nothing for the limit. */
  #isStalled(unsentBytes: number, nowMs: number): boolean {
    const isMoving = this.#unsentBytes === 0 || unsentBytes < this.#unsentBytes;
    if (isMoving) this.#takesByMs = this.#deadlines.nowMs + this.#limits.writeTimeoutMs;
    this.#unsentBytes = unsentBytes;
    return unsentBytes > 0 && nowMs >= this.#takesByMs;
  }

  #sweepStreams(nowMs: number): void {
    for (const stream of this.#stalled.keys()) if (stream.queuedBytes === 0) this.#stalled.delete(stream);
    for (const stream of this.#connection.waiting) {
      const before = this.#stalled.get(stream);
      const { sentBytes } = stream;
      if (before?.sentBytes !== sentBytes) this.#stalled.set(stream, { sentBytes, sinceMs: nowMs });
      else if (nowMs - before.sinceMs >= this.#limits.writeTimeoutMs) this.#connection.abandon(stream);
    }
  }

  close(): void {
    this.#deadlines.delete(this);
    this.#count(0);
  }

  #count(bytes: number): void {
    this.#memory.unreadBytes += bytes - this.#countedBytes;
    this.#countedBytes = bytes;
  }
}
