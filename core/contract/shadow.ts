/**
 * What the shadow profile would have done with one request: plain data.
 *
 * @example
 * const addedMs = outcome.shadow?.isSame === false ? outcome.shadow.differenceMs : 0;
 */
export interface ShadowChoice {
  readonly profile: string;
  /** The endpoint that it would have tried first; "" if it would have refused the request. */
  readonly endpoint: string;
  /** The code of its refusal; "" if it would have sent the request. */
  readonly refusal: string;
  /** Whether the request was sent there, or refused as well. */
  readonly isSame: boolean;
  /**
   * How much longer the first token is expected to take at its endpoint than at the one that was chosen, in milliseconds; below 0
   * for less, NaN if one of the two profiles refuses.
   */
  readonly differenceMs: number;
}

/** What the shadow has done since it has its name. */
export interface ShadowCounts {
  readonly profile: string;
  readonly percent: number;
  /** Requests that it decided. */
  readonly decisions: number;
  /** Those among them for which its first choice was another one. */
  readonly disagreements: number;
  /** Disagreements in which one of the two profiles refuses. */
  readonly refusals: number;
  /** Expected milliseconds to the first token that its choices would have added, and saved. */
  readonly addedMs: number;
  readonly savedMs: number;
  /** Decisions in which one of its plugins failed; a failed filter or picker leaves no choice, and is no decision. */
  readonly faults: number;
  /** Requests that it did not decide because it takes too much time. */
  readonly skipped: number;
}
