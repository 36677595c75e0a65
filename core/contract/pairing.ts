/**
 * Why one endpoint processes a request's prompt and another one generates its answer, or one does both.
 *
 * @example
 * const hasPair = decision.pairing?.isPaired === true;
 */
export interface Pairing {
  readonly isPaired: boolean;
  /** In words, for people. */
  readonly why: string;
  /** Prompt tokens that are not believed cached where the answer is generated. */
  readonly uncachedTokens: number;
  /** Expected time to the first token with a pair, its transfer included, in milliseconds; NaN if it was not asked for, or is unknown. */
  readonly pairMs: number;
  /** The same with one endpoint. */
  readonly aloneMs: number;
  /** What one endpoint would cost others beside it: the milliseconds by which the prompt would hold up their tokens; NaN as above. */
  readonly heldUpMs: number;
}
