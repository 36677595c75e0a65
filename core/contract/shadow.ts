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
