import type { UpstreamPool } from "../../../../core/wire/upstream-pool.ts";

/** How long a replica has been silent on the answer to a message: the same limits hold as for a response over HTTP. */
export class AnswerSilence {
  /** The longest one between two tokens that the answer recovered from. */
  longestGapMs = 0;
  readonly #pool: UpstreamPool;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #lastReadMs = 0;
  /** Counted as deadlines.awakeMs. */
  #sinceMs = 0;

  constructor(pool: UpstreamPool) {
    this.#pool = pool;
  }

  get ms(): number {
    return this.#pool.deadlines.awakeMs - this.#sinceMs;
  }

  /** The message is sent, or its WebSocket is open. */
  begin(): void {
    const { deadlines, limits } = this.#pool;
    this.heard(false);
    this.longestGapMs = 0;
    this.#deadlineMs = deadlines.nowMs + limits.responseTimeoutMs;
  }

  heard(hasTokens: boolean): void {
    const { deadlines } = this.#pool;
    if (hasTokens && this.ms > this.longestGapMs) this.longestGapMs = this.ms;
    this.#lastReadMs = deadlines.nowMs;
    this.#sinceMs = deadlines.awakeMs;
  }

  /** The replica is not read now. */
  excuse(nowMs: number): void {
    this.#lastReadMs = nowMs;
  }

  isTooLong(hasHead: boolean, nowMs: number): boolean {
    return hasHead ? nowMs - this.#lastReadMs >= this.#pool.limits.streamIdleTimeoutMs : nowMs >= this.#deadlineMs;
  }
}
