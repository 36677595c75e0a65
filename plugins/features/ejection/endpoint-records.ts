import type { EndpointRecord } from "../../../core/contract/detector.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { EmptyAnswers } from "./empty-answers.ts";
import { certainQuietMs, explainedQuietMs, loneQuietMs, type PoolHistory } from "./explained-silence.ts";
import { type RecordRow, RecordRows } from "./record-rows.ts";
import { NOTHING_SERVED, type Served } from "./warm-up.ts";

/** A response's share in the means of times to the first token: about the last twenty count. */
const MEAN_SHARE = 0.1;
/** Fewer times say nothing. */
const MIN_TIMES = 8;
/** A time to the first token below this is noise, so what was expected counts as at least this. */
const LEAST_EXPECTED_MS = 50;

/** Only work that was sent before a silence began, or this much later, can explain the silence. */
const WORK_SEEN_MS = 1_000;
/** How fast the longest silence is forgotten: half of it in five minutes. */
const QUIET_HALF_LIFE_MS = 300_000;
/** Long responses may be rare, so those that came whole are forgotten slowly: half of them in an hour. */
const WHOLE_HALF_LIFE_MS = 3_600_000;

/** What was learned from the traffic of each endpoint: the counters that detectors read. Times are on the router's clock. */
export class EndpointRecords {
  readonly #rows = new RecordRows();
  readonly emptyAnswers = new EmptyAnswers();
  readonly #pool: PoolHistory = {
    answers: 0,
    longestWaitMs: 0,
    whole: 0,
    longestWholeMs: 0,
    ended: 0,
    longestMs: 0,
  };

  /** A request was sent. `isStream`: the first byte of its response shows that the prompt is processed. `target`: "" for none. */
  sent(endpoint: Endpoint, isStream: boolean, nowMs: number, target = ""): void {
    const row = this.#rowOf(endpoint, nowMs);
    if (row.open === 0) this.#active(row, nowMs);
    row.open += 1;
    if (target !== "") row.newTargets.sent(target, nowMs);
    if (!isStream) return;
    if (row.openStreams === 0) {
      row.streamsSinceMs = nowMs;
      row.workSeenUntilMs = Number.NaN;
    }
    row.openStreams += 1;
  }

  /** The endpoint ended a response that it has worked on. */
  ended(endpoint: Endpoint, isStream: boolean, nowMs: number, target = ""): void {
    this.abandoned(endpoint, isStream, target);
    const row = this.#rows.of(endpoint);
    if (row !== undefined) this.#active(row, nowMs);
  }

  /** The try ended from this side, or with an error, which the server of an engine that hangs may send too: that is no sign of life. */
  abandoned(endpoint: Endpoint, isStream: boolean, target = ""): void {
    const row = this.#rows.of(endpoint);
    if (row === undefined || row.open === 0) return;
    row.open -= 1;
    row.newTargets.ended(target);
    if (isStream && row.openStreams > 0) row.openStreams -= 1;
  }

  /** Bytes of tokens came from it at that time. A time before the latest known one changes nothing. */
  heard(endpoint: Endpoint, atMs: number): void {
    const row = this.#rows.of(endpoint);
    if (row === undefined || row.open === 0 || atMs <= row.activeAtMs) return;
    row.hasAnswered = true;
    row.newTargets.heard(row.open);
    row.longestQuietMs = Math.max(row.longestQuietMs, atMs - row.activeAtMs);
    this.#active(row, atMs);
  }

  /** Whether requests are under way there. */
  isBusy(endpoint: Endpoint): boolean {
    return (this.#rows.of(endpoint)?.open ?? 0) > 0;
  }

  /** The process did not run for `lostMs`: that time is no silence of any endpoint. */
  stoodStill(lostMs: number, nowMs: number): void {
    this.#rows.each((row) => {
      row.activeAtMs = Math.min(nowMs, row.activeAtMs + lostMs);
      row.streamsSinceMs = Math.min(nowMs, row.streamsSinceMs + lostMs);
      row.workSeenUntilMs += lostMs;
    });
  }

  /** The first token of a streamed response came after `seenMs`; `expectedMs` is what its work and the pool's speed explain. */
  firstToken(endpoint: Endpoint, seenMs: number, expectedMs: number): void {
    const row = this.#rows.of(endpoint);
    if (row === undefined) return;
    this.#answered(row);
    this.#pool.longestWaitMs = Math.max(this.#pool.longestWaitMs, seenMs - expectedMs);
    const explainedMs = Math.max(LEAST_EXPECTED_MS, expectedMs);
    const share = Math.max(MEAN_SHARE, 1 / (row.times + 1));
    row.times += 1;
    row.meanLogRatio += share * (Math.log(Math.max(1, seenMs) / explainedMs) - row.meanLogRatio);
    row.meanExcessMs += share * (seenMs - explainedMs - row.meanExcessMs);
  }

  /** A token came that this target generated. */
  hasTarget(endpoint: Endpoint, target: string): void {
    this.#rows.of(endpoint)?.newTargets.answered(target);
  }

  /** A response of either kind ended well, so long after its request was sent. */
  tookMs(tookMs: number): void {
    this.#pool.ended += 1;
    this.#pool.longestMs = Math.max(this.#pool.longestMs, tookMs);
  }

  /** A response that is not streamed came `tookMs` after its request was sent. */
  wholeResponse(endpoint: Endpoint, tookMs: number): void {
    const row = this.#rows.of(endpoint);
    if (row === undefined) return;
    this.#answered(row);
    this.#pool.whole += 1;
    this.#pool.longestWholeMs = Math.max(this.#pool.longestWholeMs, tookMs);
  }

  /** A response that speaks for the endpoint; `tokens` is what it worked on. */
  succeeded(endpoint: Endpoint, tokens: number, nowMs: number): void {
    this.#rowOf(endpoint, nowMs).outcomes.succeeded(tokens, nowMs);
  }

  /** No response, a broken one, or one that says that the endpoint is at fault. */
  failed(endpoint: Endpoint, what: string, nowMs: number): void {
    this.#rowOf(endpoint, nowMs).outcomes.failed(what, nowMs);
  }

  /** A gateway did without it. Returns whether that counts as a failure. */
  passedOver(endpoint: Endpoint, poolSize: number, nowMs: number): boolean {
    return this.#rowOf(endpoint, nowMs).outcomes.passedOver(poolSize, nowMs);
  }

  /** A response of status 2xx that is none of its API; `lack` says what it lacks. */
  malformed(endpoint: Endpoint, lack: string, nowMs: number): void {
    this.#rowOf(endpoint, nowMs).outcomes.malformed(lack, nowMs);
  }

  /** A failure of that time turned out to be the request's own fault. */
  retract(endpoint: Endpoint, atMs: number, nowMs: number, isMalformed = false): void {
    this.#rows.of(endpoint)?.outcomes.retract(atMs, nowMs, isMalformed);
  }

  /** When it last had a success with no failure since that counts against it; -Infinity where there is none. */
  soundSinceMs(endpoint: Endpoint): number {
    const outcomes = this.#rows.of(endpoint)?.outcomes;
    return outcomes === undefined || outcomes.isFailing ? Number.NEGATIVE_INFINITY : outcomes.lastSuccessMs;
  }

  /** It answered 404 for a model that it lists. */
  missedModel(endpoint: Endpoint, model: string, nowMs: number): void {
    this.#rowOf(endpoint, nowMs).outcomes.missedModel(model);
  }

  /** The endpoint comes back: what sent it away counts no more. */
  forgive(endpoint: Endpoint): void {
    const row = this.#rows.of(endpoint);
    if (row === undefined) return;
    row.outcomes.forgive();
    this.emptyAnswers.forgive(endpoint);
    row.times = 0;
    row.meanLogRatio = 0;
    row.meanExcessMs = 0;
  }

  /** What it has served so far. */
  served(endpoint: Endpoint): Served {
    const outcomes = this.#rows.of(endpoint)?.outcomes;
    return outcomes === undefined ? NOTHING_SERVED : { requests: outcomes.servedRequests, tokens: outcomes.servedTokens };
  }

  /**
   * What is known now. `workAheadMs` is how long the prompts that were sent there take by its measured speed. `isDoubted`: requests
   * there got no token, and none has come since.
   */
  of(endpoint: Endpoint, workAheadMs: number, nowMs: number, isDoubted = false): EndpointRecord {
    const row = this.#rowOf(endpoint, nowMs);
    // The work that remains shrinks while a long prompt is computed in silence, so what was ahead at first explains it.
    if (Number.isNaN(row.workSeenUntilMs)) row.workSeenUntilMs = nowMs + WORK_SEEN_MS;
    if (nowMs <= row.workSeenUntilMs) row.silentWorkMs = Math.max(row.silentWorkMs, workAheadMs);
    row.isLoadAhead = row.hasAnswered && row.newTargets.areAwaitedSince(row.activeAtMs + WORK_SEEN_MS);
    return {
      endpoint: endpoint.name,
      ...row.outcomes.shown(nowMs),
      quietMs: row.open === 0 ? 0 : Math.max(0, nowMs - row.activeAtMs),
      explainedQuietMs: explainedQuietMs(row, this.#pool, isDoubted),
      emptyEvidence: this.emptyAnswers.evidence(endpoint),
      emptyShare: this.emptyAnswers.share(endpoint),
      slowness: row.times < MIN_TIMES ? Number.NaN : Math.exp(row.meanLogRatio),
      excessMs: row.meanExcessMs,
    };
  }

  /** How long a silence must be to end requests that no other endpoint could serve; see explained-silence.ts. */
  certainQuietMs(endpoint: Endpoint, isDoubted: boolean): number {
    const row = this.#rows.of(endpoint);
    return row === undefined ? Number.POSITIVE_INFINITY : certainQuietMs(row, this.#pool, isDoubted);
  }

  /** How long a request may be silent where little else speaks against its endpoint; see explained-silence.ts. */
  loneQuietMs(endpoint: Endpoint, isDoubted: boolean, isStream: boolean): number {
    const row = this.#rows.of(endpoint);
    return row === undefined ? Number.POSITIVE_INFINITY : loneQuietMs(row, this.#pool, isDoubted, isStream);
  }

  /** Time has passed: old silences count less. Called about once a second. */
  age(elapsedMs: number): void {
    const keep = 0.5 ** (elapsedMs / QUIET_HALF_LIFE_MS);
    this.#rows.forgetGone();
    this.#rows.each((row) => {
      row.longestQuietMs *= keep;
    });
    this.#pool.longestWaitMs *= keep;
    const keepWhole = 0.5 ** (elapsedMs / WHOLE_HALF_LIFE_MS);
    this.#pool.whole *= keepWhole;
    this.#pool.longestWholeMs *= keepWhole;
    this.#pool.ended *= keepWhole;
    this.#pool.longestMs *= keepWhole;
  }

  #answered(row: RecordRow): void {
    row.hasAnswered = true;
    this.#pool.answers += 1;
  }

  /** It shows life, or has nothing to do: its silence begins anew. */
  #active(row: RecordRow, nowMs: number): void {
    row.activeAtMs = nowMs;
    row.silentWorkMs = 0;
    row.workSeenUntilMs = Number.NaN;
    row.answersBefore = this.#pool.answers;
  }

  #rowOf(endpoint: Endpoint, nowMs: number): RecordRow {
    return this.#rows.ofOrNew(endpoint, nowMs, this.#pool.answers);
  }
}
