/** Silence shorter than this needs no explanation, where it is known what is usual. */
const LEAST_QUIET_MS = 5_000;
/**
 * The same where it is not known. A replica may compile for minutes on its first request, above all when it shares its processor,
 * and a response that comes whole is silent while it is generated: four thousand tokens of 30 ms take two minutes.
 */
const LEAST_UNKNOWN_QUIET_MS = 120_000;
/**
 * The least silence that ends requests where little speaks against the endpoint, or no other one could serve them: a grammar or an
 * adapter may be prepared for one of them alone.
 */
const LEAST_CERTAIN_QUIET_MS = 30_000;
/** So much longer than the longest silence so far, or than its work ahead takes, an endpoint may be silent. */
const QUIET_FACTOR = 4;
/** After so many answers elsewhere, an endpoint that has never answered is measured by the pool. */
const ENOUGH_ANSWERS = 8;
/** After so many whole responses, the next one hardly takes QUIET_FACTOR times as long as the longest of them. */
const ENOUGH_WHOLE = 50;

/** What is known of one endpoint's silences. Times are on the router's clock. */
export interface Silence {
  /** Whether its engine has worked: it sent a first token, or a whole response. */
  hasAnswered: boolean;
  open: number;
  openStreams: number;
  /** Since when streams are in flight. */
  streamsSinceMs: number;
  /** When it last had nothing in flight, or the last byte came. */
  activeAtMs: number;
  /** The pool's answers before that. */
  answersBefore: number;
  /** The most work that was ahead when the silence since `activeAtMs` began, as seen until then. */
  silentWorkMs: number;
  longestQuietMs: number;
  /** Since the silence began, or before, a request waits for a target that the endpoint may have to load first. */
  isLoadAhead: boolean;
}

/** What all endpoints together told. */
export interface PoolHistory {
  /** First tokens and whole responses so far. */
  answers: number;
  /** How much later than expected the latest first token came, in milliseconds; old ones count less. */
  longestWaitMs: number;
  /** Whole responses, and the time of the longest one; old ones count less. */
  whole: number;
  longestWholeMs: number;
  /** Responses of both kinds, and the time that the longest one took to its end; old ones count less. */
  ended: number;
  longestMs: number;
}

/**
 * The longest silence that the work ahead of the endpoint and its history explain: the pool's history, before it has answered.
 * `isDoubted`: requests there got no token, and none has come since.
 */
export function explainedQuietMs(row: Silence, pool: PoolHistory, isDoubted: boolean): number {
  const wholeMs = wholeQuietMs(row, pool, isDoubted);
  if (row.openStreams === 0 || !isMeasurable(row, pool)) return wholeMs;
  // Before the first stream was sent, only whole responses were under way.
  const beforeStreamsMs = Math.max(0, row.streamsSinceMs - row.activeAtMs);
  const leastMs = row.isLoadAhead ? LEAST_CERTAIN_QUIET_MS : LEAST_QUIET_MS;
  return Math.min(wholeMs, beforeStreamsMs + usualQuietMs(row, pool) + leastMs);
}

/** How long a request may be silent where little else speaks against the endpoint. `isStream`: a token shows that its prompt is processed. */
export function loneQuietMs(row: Silence, pool: PoolHistory, isDoubted: boolean, isStream: boolean): number {
  const explainedMs = isStream ? explainedQuietMs(row, pool, isDoubted) : wholeQuietMs(row, pool, isDoubted);
  return Math.max(LEAST_CERTAIN_QUIET_MS, explainedMs);
}

/**
 * How long a silence must be to end requests that no other endpoint could serve. Infinity where nothing is known of what is usual,
 * and under responses that come whole, until there were many: the engine may work on one request at a time.
 */
export function certainQuietMs(row: Silence, pool: PoolHistory, isDoubted: boolean): number {
  if (!isMeasurable(row, pool)) return Number.POSITIVE_INFINITY;
  if (isDoubted || row.open === row.openStreams) return loneQuietMs(row, pool, isDoubted, true);
  return pool.whole < ENOUGH_WHOLE ? Number.POSITIVE_INFINITY : Math.max(LEAST_UNKNOWN_QUIET_MS, wholeQuietMs(row, pool, false));
}

/**
 * What explains a silence where no stream is under way. Where the endpoint is in doubt already, streams tell too how long a response
 * takes: generating it is the same work.
 */
function wholeQuietMs(row: Silence, pool: PoolHistory, isDoubted: boolean): number {
  const usualMs = usualQuietMs(row, pool);
  if (!isMeasurable(row, pool)) return usualMs + LEAST_UNKNOWN_QUIET_MS;
  if (pool.whole >= ENOUGH_WHOLE) return usualMs + LEAST_QUIET_MS + QUIET_FACTOR * pool.longestWholeMs;
  if (!isDoubted || pool.ended === 0) return usualMs + LEAST_UNKNOWN_QUIET_MS;
  // The fewer there were, the further beyond the longest of them the next one may be.
  const knownMs = LEAST_QUIET_MS + QUIET_FACTOR * pool.longestMs * Math.max(1, ENOUGH_WHOLE / pool.ended);
  return usualMs + Math.min(LEAST_UNKNOWN_QUIET_MS, knownMs);
}

/** What its work and its history, or the pool's, explain. */
function usualQuietMs(row: Silence, pool: PoolHistory): number {
  const ownMs = row.longestQuietMs + row.silentWorkMs;
  return QUIET_FACTOR * (row.hasAnswered ? ownMs : ownMs + pool.longestWaitMs);
}

/** Whether it is known how long its silences usually are, or the pool's. */
function isMeasurable({ hasAnswered, answersBefore }: Silence, { answers }: PoolHistory): boolean {
  return hasAnswered || answers - answersBefore >= ENOUGH_ANSWERS;
}
