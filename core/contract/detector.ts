/**
 * Should this endpoint leave the pool for a while, because of what its responses were? The same inputs must give the same answer.
 *
 * @example
 * create: ({ most }) => ({
 *   detect: ({ consecutiveFailures, lastFailure }) =>
 *     consecutiveFailures >= most ? `${consecutiveFailures} failures in a row, the last a ${lastFailure}` : undefined,
 * })
 */
export interface Detector {
  /** The reason, in words that can stand behind "ejected: "; undefined while there is none. `others` are the endpoints beside it. */
  detect(record: EndpointRecord, others: readonly EndpointRecord[]): string | undefined;
  /**
   * True if an endpoint that it finds will answer nobody. Then requests there are given up that have waited for a token for as long
   * as `explainedQuietMs`, or for half a minute where nothing else speaks against the endpoint; streams that fell silent follow.
   */
  readonly cutsWaiting?: boolean;
  dispose?(): void;
}

/** What the traffic of one endpoint told. What was a request's own fault is not in it. */
export interface EndpointRecord {
  readonly endpoint: string;
  /** Failures since the last success. */
  readonly consecutiveFailures: number;
  /** What the last failure was: "reset", "timeout", "status 500" …; "" before the first. */
  readonly lastFailure: string;
  /** Responses and failures of the last half minute. */
  readonly recentSuccesses: number;
  readonly recentFailures: number;
  /** Responses with status 2xx in a row that lack what their API's responses have, and what the last one lacked, in a few words. */
  readonly malformedCount: number;
  readonly malformedBy: string;
  /** 404 responses in a row for a model that the endpoint lists, and that model. */
  readonly missingModelCount: number;
  readonly missingModel: string;
  /**
   * How much speaks for it that its answers are empty more often than the others' to requests for the same target: if they are not, the
   * probability that this is ever 1/a or more is at most a. Empty is an answer of status 2xx in which nothing was generated.
   */
  readonly emptyEvidence: number;
  /** Which share of its latest answers was empty; NaN before the first. */
  readonly emptyShare: number;
  /** How long requests have been in flight there without a token of any response, in milliseconds; 0 where none is in flight. */
  readonly quietMs: number;
  /** The longest silence that the work ahead of it and its history explain, in milliseconds: the pool's history, before it has answered. */
  readonly explainedQuietMs: number;
  /** Geometric mean of time to first token seen / expected, over recent requests; NaN before there were enough. */
  readonly slowness: number;
  /** Mean of the same time beyond what was expected, in milliseconds. */
  readonly excessMs: number;
}
