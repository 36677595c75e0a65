import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { Ticket } from "../../../core/ticket.ts";

/** What requests should get, in milliseconds; Infinity for no target. */
export interface SimulatedTargets {
  readonly ttftMs: number;
  readonly tpotMs: number;
}

/** The results of a simulation; times in seconds. */
export type Metrics = ReturnType<Recorder["metrics"]>;

const FAST_MS = 2_000;
/** A curve has a point at each half percent. */
const CURVE_STEPS = 200;
/** Times between tokens, in milliseconds: quantiles are exact to half a percent, and memory does not grow with the tokens. */
const TOKEN_MS = Bounds.growing(0.001, 1e8, 1.005);

/** What only some simulations have. */
export interface Measured {
  /** Requests have targets. */
  readonly targets: boolean;
  /** Replicas may share a request. */
  readonly pairs: boolean;
}

/** Collects measurements during a simulation. */
export class Recorder {
  readonly #measured: Measured;
  readonly #firstTokenMs: number[] = [];
  readonly #ttftErrors: number[] = [];
  readonly #interTokenMs = new Histogram(TOKEN_MS);
  #promptTokens = 0;
  #cachedTokens = 0;
  #inTarget = 0;
  #completed = 0;
  #retries = 0;
  #decisions = 0;
  #imbalanceSum = 0;
  #faultyDecisions = 0;
  #pairs = { made: 0, alone: 0, failed: 0 };

  constructor(measured: Measured = { targets: false, pairs: false }) {
    this.#measured = measured;
  }

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

  /** A request that arrived at `arrivedMs` got its whole response at `endedMs`. */
  served(ticket: Ticket, { ttftMs, tpotMs }: SimulatedTargets, arrivedMs: number, endedMs: number): void {
    const { outputTokens, expectedFirstByteMs, prefill } = ticket;
    if (prefill === undefined) this.#pairs.alone += 1;
    else if (prefill.end === "transferred") this.#pairs.made += 1;
    else this.#pairs.failed += 1;
    const { firstByteAtMs, dispatchedAtMs } = ticket.times;
    // One token has no time between tokens.
    const tokenMs = outputTokens > 1 ? (endedMs - firstByteAtMs) / (outputTokens - 1) : 0;
    if (firstByteAtMs - arrivedMs <= ttftMs && tokenMs <= tpotMs) this.#inTarget += 1;
    const seenMs = firstByteAtMs - dispatchedAtMs;
    if (!Number.isNaN(expectedFirstByteMs) && seenMs > 0) this.#ttftErrors.push(Math.abs(expectedFirstByteMs - seenMs) / seenMs);
  }

  /** A request that was sent is over. */
  over(isComplete: boolean, retries: number): void {
    if (isComplete) this.#completed += 1;
    this.#retries += retries;
  }

  /** Seconds to the first token that a share of those who got one did not exceed: shares in equal steps from 0 to 1. Empty without any. */
  ttftCurve(): readonly number[] {
    const waitedMs = Float64Array.from(this.#firstTokenMs).sort();
    if (waitedMs.length === 0) return [];
    return Array.from({ length: CURVE_STEPS + 1 }, (_, step) => quantile(waitedMs, step / CURVE_STEPS) / 1000);
  }

  /** `seconds`: in which the requests came. */
  metrics(requests: number, utilization: number, ejections: readonly number[], seconds = 0) {
    const waitedMs = Float64Array.from(this.#firstTokenMs).sort();
    const errors = Float64Array.from(this.#ttftErrors).sort();
    const { counts, count } = this.#interTokenMs;
    // Of none, everything is 0.
    const waitedS = (share: number) => (quantile(waitedMs, share) || 0) / 1000;
    const interTokenS = (share: number) => (TOKEN_MS.valueAtRank(counts, share * count) || 0) / 1000;
    const meanMs = ratio(
      waitedMs.reduce((sum, ms) => sum + ms, 0),
      waitedMs.length,
    );
    const fast = waitedMs.findIndex((ms) => ms > FAST_MS);
    return {
      /** Share of all prompt tokens that were found in a replica's cache. */
      hitRatio: ratio(this.#cachedTokens, this.#promptTokens),
      ttftSeconds: { mean: meanMs / 1000, p50: waitedS(0.5), p90: waitedS(0.9), p99: waitedS(0.99) },
      interTokenSeconds: { p50: interTokenS(0.5), p99: interTokenS(0.99) },
      /** Share of the requests that met the targets; without targets, those that got their complete output. */
      inTargetShare: ratio(this.#inTarget, requests),
      /** How far off the router's expectations were: |expected - seen| / seen; 0 where nothing was expected. */
      ttftError: { p50: quantile(errors, 0.5) || 0, p90: quantile(errors, 0.9) || 0 },
      /** Share of the requests with a first token that got it within two seconds. */
      shareUnder2Seconds: ratio(fast < 0 ? waitedMs.length : fast, waitedMs.length),
      /** Requests in flight on the busiest replica / mean over all replicas, averaged over decisions. 1 means even. */
      imbalance: ratio(this.#imbalanceSum, this.#decisions),
      /** Share of the time in which a replica computes, averaged over replicas. */
      utilization,
      /** Share of the requests that got their complete output. */
      completionRatio: ratio(this.#completed, requests),
      /** Decisions in which a plugin broke its contract. */
      faultyDecisions: this.#faultyDecisions,
      /** Requests that did not get a whole response, whoever refused them. */
      failedRequests: requests - this.#completed,
      /** Tries after the first. */
      retries: this.#retries,
      /** By replica. */
      ejections,
      /** Requests that met both targets, in a second. */
      ...(this.#measured.targets && { goodputPerS: ratio(this.#inTarget, seconds) }),
      /** Served requests by whether two replicas shared them: those that did, those meant for one, and those that one served in the end. */
      ...(this.#measured.pairs && { pairs: this.#pairs }),
    };
  }
}

/** The mean of several numbers; of lists and records of one shape, that of each number in them. */
export function meanOf<Value>(values: readonly Value[]): Value {
  const [first] = values;
  if (typeof first === "number")
    return ((values as readonly number[]).reduce((sum, each) => sum + each, 0) / values.length) as Value;
  const means = Object.keys(first as object).map((key) => [key, meanOf(values.map((each) => each[key as keyof Value]))] as const);
  return (Array.isArray(first) ? means.map(([, mean]) => mean) : Object.fromEntries(means)) as Value;
}

/** The smallest value that is not exceeded by that share of the sorted values; NaN without any. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
