import { Bounds, Histogram } from "../contract/histogram.ts";
import { LatencyRecord, type RelativeError } from "./latency-record.ts";
import { quantile } from "./quantile.ts";

/** The results of a simulation; times in seconds. */
export interface Metrics {
  /** Share of all prompt tokens that were found in a replica's cache. */
  readonly hitRatio: number;
  readonly ttftSeconds: Percentiles;
  /** Share of the requests that met the targets; without targets, those that got their complete output. */
  readonly inTargetShare: number;
  /** How far off the router's expectations were. */
  readonly ttftError: RelativeError;
  readonly interTokenSeconds: { readonly p50: number; readonly p99: number };
  /** Share of the requests with a first token that got it within two seconds. */
  readonly shareUnder2Seconds: number;
  /** Requests in flight on the busiest replica / mean over all replicas, averaged over decisions. 1 means even. */
  readonly imbalance: number;
  /** Share of the time in which a replica computes, averaged over replicas. */
  readonly utilization: number;
  /** Share of the requests that got their complete output. */
  readonly completionRatio: number;
  /** Decisions in which a plugin broke its contract. */
  readonly faultyDecisions: number;
  /** Requests that did not get a whole response, whoever refused them. */
  readonly failedRequests: number;
  /** Tries after the first. */
  readonly retries: number;
  /** By replica. */
  readonly ejections: readonly number[];
}

interface Percentiles {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

const FAST_MS = 2_000;
/** Times between tokens, in milliseconds: quantiles are exact to half a percent, and memory does not grow with the tokens. */
const TOKEN_MS = Bounds.growing(0.001, 1e8, 1.005);

/** Collects measurements during a simulation. */
export class Recorder {
  readonly latencies = new LatencyRecord();
  readonly #firstTokenMs: number[] = [];
  readonly #interTokenMs = new Histogram(TOKEN_MS);
  #promptTokens = 0;
  #cachedTokens = 0;
  #completed = 0;
  #retries = 0;
  #decisions = 0;
  #imbalanceSum = 0;
  #faultyDecisions = 0;

  decided(inFlight: ArrayLike<number>, replicas: number, isFaulty: boolean): void {
    let most = 0;
    let sum = 0;
    for (let slot = 0; slot < replicas; slot++) {
      sum += inFlight[slot]!;
      if (inFlight[slot]! > most) most = inFlight[slot]!;
    }
    this.#decisions += 1;
    this.#imbalanceSum += sum === 0 ? 1 : (most * replicas) / sum;
    if (isFaulty) this.#faultyDecisions += 1;
  }

  firstToken(waitedMs: number, promptTokens: number, cachedTokens: number): void {
    this.#firstTokenMs.push(waitedMs);
    this.#promptTokens += promptTokens;
    this.#cachedTokens += cachedTokens;
  }

  decoded(tokens: number, stepMs: number): void {
    this.#interTokenMs.add(stepMs, tokens);
  }

  /** A request that was sent is over. */
  over(isComplete: boolean, retries: number): void {
    if (isComplete) this.#completed += 1;
    this.#retries += retries;
  }

  metrics(requests: number, utilization: number, ejections: readonly number[]): Metrics {
    const waitedMs = Float64Array.from(this.#firstTokenMs).sort();
    const { counts, count } = this.#interTokenMs;
    // Of none, everything is 0.
    const waitedS = (share: number) => (quantile(waitedMs, share) || 0) / 1000;
    const interTokenS = (share: number) => (TOKEN_MS.valueAtRank(counts, share * count) || 0) / 1000;
    const fast = waitedMs.findIndex((ms) => ms > FAST_MS);
    return {
      hitRatio: ratio(this.#cachedTokens, this.#promptTokens),
      ttftSeconds: {
        mean:
          ratio(
            waitedMs.reduce((sum, ms) => sum + ms, 0),
            waitedMs.length,
          ) / 1000,
        p50: waitedS(0.5),
        p90: waitedS(0.9),
        p99: waitedS(0.99),
      },
      interTokenSeconds: { p50: interTokenS(0.5), p99: interTokenS(0.99) },
      inTargetShare: ratio(this.latencies.met, requests),
      ttftError: this.latencies.ttftError,
      shareUnder2Seconds: ratio(fast < 0 ? waitedMs.length : fast, waitedMs.length),
      imbalance: ratio(this.#imbalanceSum, this.#decisions),
      utilization,
      completionRatio: ratio(this.#completed, requests),
      faultyDecisions: this.#faultyDecisions,
      failedRequests: requests - this.#completed,
      retries: this.#retries,
      ejections,
    };
  }
}

/** The mean of each number over several runs. */
export function meanOf(runs: readonly Metrics[]): Metrics {
  const mean = (read: (run: Metrics) => number) =>
    ratio(
      runs.reduce((sum, run) => sum + read(run), 0),
      runs.length,
    );
  return {
    hitRatio: mean((run) => run.hitRatio),
    ttftSeconds: {
      mean: mean((run) => run.ttftSeconds.mean),
      p50: mean((run) => run.ttftSeconds.p50),
      p90: mean((run) => run.ttftSeconds.p90),
      p99: mean((run) => run.ttftSeconds.p99),
    },
    interTokenSeconds: { p50: mean((run) => run.interTokenSeconds.p50), p99: mean((run) => run.interTokenSeconds.p99) },
    inTargetShare: mean((run) => run.inTargetShare),
    ttftError: { p50: mean((run) => run.ttftError.p50), p90: mean((run) => run.ttftError.p90) },
    shareUnder2Seconds: mean((run) => run.shareUnder2Seconds),
    imbalance: mean((run) => run.imbalance),
    utilization: mean((run) => run.utilization),
    completionRatio: mean((run) => run.completionRatio),
    faultyDecisions: mean((run) => run.faultyDecisions),
    failedRequests: mean((run) => run.failedRequests),
    retries: mean((run) => run.retries),
    ejections: (runs[0]?.ejections ?? []).map((_, replica) => mean((run) => run.ejections[replica]!)),
  };
}

const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
