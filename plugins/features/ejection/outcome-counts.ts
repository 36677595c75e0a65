import { SlidingWindow } from "../../../core/state/sliding-window.ts";

/** Successes and failures are counted over half a minute. */
const WINDOW_MS = 30_000;
const BUCKETS = 10;
/** Their places in a bucket. */
const AT = { successes: 0, failures: 1 } as const;

/** How the requests of one endpoint ended. Times are on the router's clock. */
export class OutcomeCounts {
  /** Successful responses so far, and their prompt tokens. */
  servedRequests = 0;
  servedTokens = 0;
  lastSuccessMs = Number.NEGATIVE_INFINITY;
  readonly #recent = new SlidingWindow(WINDOW_MS / BUCKETS, BUCKETS, 2);
  #consecutiveFailures = 0;
  #lastFailure = "";
  /** How often a gateway did without it since its last success, or since that last counted as a failure. */
  #passedOver = 0;
  #missingModelCount = 0;
  #missingModel = "";
  #malformedCount = 0;
  #malformedBy = "";

  succeeded(tokens: number, nowMs: number): void {
    this.#endRuns();
    this.lastSuccessMs = nowMs;
    this.servedRequests += 1;
    this.servedTokens += tokens;
    this.#recent.add(AT.successes, 1, nowMs);
  }

  failed(what: string, nowMs: number): void {
    this.#consecutiveFailures += 1;
    this.#lastFailure = what;
    this.#recent.add(AT.failures, 1, nowMs);
  }

  /**
   * A gateway had another endpoint serve. Returns whether that counts: as many in a row as the pool has endpoints are one failure. A
   * gateway that heeds no list and takes turns comes back to each endpoint before that.
   */
  passedOver(poolSize: number, nowMs: number): boolean {
    this.#passedOver += 1;
    if (this.#passedOver < poolSize) return false;
    this.#passedOver = 0;
    this.failed("passed over by the gateway", nowMs);
    return true;
  }

  malformed(lack: string, nowMs: number): void {
    this.#malformedCount += 1;
    this.#malformedBy = lack;
    this.#recent.add(AT.failures, 1, nowMs);
  }

  missedModel(model: string): void {
    this.#missingModelCount += 1;
    this.#missingModel = model;
  }

  /** A failure of that time does not count after all. */
  retract(atMs: number, nowMs: number, isMalformed: boolean): void {
    this.#recent.takeBack(AT.failures, 1, atMs, nowMs);
    // A success has ended the run that it was in.
    if (atMs < this.lastSuccessMs) return;
    if (isMalformed) this.#malformedCount = Math.max(0, this.#malformedCount - 1);
    else this.#consecutiveFailures = Math.max(0, this.#consecutiveFailures - 1);
  }

  /** Nothing of the past speaks against the endpoint any more. */
  forgive(): void {
    this.#endRuns();
    this.#recent.clear();
  }

  /** Whether something has failed since the last success. */
  get isFailing(): boolean {
    return this.#consecutiveFailures + this.#missingModelCount + this.#malformedCount > 0;
  }

  shown(nowMs: number) {
    return {
      consecutiveFailures: this.#consecutiveFailures,
      lastFailure: this.#lastFailure,
      recentSuccesses: this.#recent.sum(AT.successes, nowMs),
      recentFailures: this.#recent.sum(AT.failures, nowMs),
      missingModelCount: this.#missingModelCount,
      missingModel: this.#missingModel,
      malformedCount: this.#malformedCount,
      malformedBy: this.#malformedBy,
    };
  }

  #endRuns(): void {
    this.#consecutiveFailures = 0;
    this.#passedOver = 0;
    this.#missingModelCount = 0;
    this.#malformedCount = 0;
  }
}
