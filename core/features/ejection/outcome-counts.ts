import type { EndpointRecord } from "../../contract/detector.ts";
import { SlidingWindow } from "../../state/sliding-window.ts";

/** Successes and failures are counted over half a minute. */
const WINDOW_MS = 30_000;
const BUCKETS = 10;
/** Their places in a bucket. */
const AT = { successes: 0, failures: 1 } as const;

/** What of a record is counted here. */
type Counts = Pick<
  EndpointRecord,
  | "consecutiveFailures"
  | "lastFailure"
  | "recentSuccesses"
  | "recentFailures"
  | "missingModelCount"
  | "missingModel"
  | "malformedCount"
  | "malformedBy"
>;

/** How the requests of one endpoint ended. Times are on the router's clock. */
export class OutcomeCounts {
  /** Successful responses so far, and their prompt tokens. */
  servedRequests = 0;
  servedTokens = 0;
  readonly #recent = new SlidingWindow(WINDOW_MS / BUCKETS, BUCKETS, 2);
  #consecutiveFailures = 0;
  #lastFailure = "";
  #missingModelCount = 0;
  #missingModel = "";
  #malformedCount = 0;
  #malformedBy = "";

  succeeded(tokens: number, nowMs: number): void {
    this.#endRuns();
    this.servedRequests += 1;
    this.servedTokens += tokens;
    this.#recent.add(AT.successes, 1, nowMs);
  }

  failed(what: string, nowMs: number): void {
    this.#consecutiveFailures += 1;
    this.#lastFailure = what;
    this.#recent.add(AT.failures, 1, nowMs);
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

  /** A failure does not count after all. */
  retract(nowMs: number, isMalformed: boolean): void {
    if (isMalformed) this.#malformedCount = Math.max(0, this.#malformedCount - 1);
    else this.#consecutiveFailures = Math.max(0, this.#consecutiveFailures - 1);
    const { numbers } = this.#recent;
    const at = this.#recent.at(nowMs) + AT.failures;
    numbers[at] = Math.max(0, numbers[at]! - 1);
  }

  /** Nothing of the past speaks against the endpoint any more. */
  forgive(): void {
    this.#endRuns();
    this.#recent.clear();
  }

  shown(nowMs: number): Counts {
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
    this.#missingModelCount = 0;
    this.#malformedCount = 0;
  }
}
