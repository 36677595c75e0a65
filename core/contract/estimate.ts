import type { Leg } from "./decision.ts";

/** What was expected of one endpoint when the decision was made. */
export interface Estimate {
  /** Prompt tokens of the request that were believed cached there; NaN if no plugin reads prefixes. */
  readonly cachedTokens: number;
  /** Tokens of other prompts that were sent there and were still to be processed. */
  readonly waitingTokens: number;
  /** Time to the request's first token, in milliseconds; NaN before any prompt's speed was measured. */
  readonly firstTokenMs: number;
  /** Time for each token after it, in milliseconds; NaN where the profile has no estimator. */
  readonly tokenMs: number;
}

/** Numbers in `Leg.estimates` for each endpoint, in the order of the fields above. */
export const NUMBERS_PER_ENDPOINT = 4;

/** What was expected of the endpoint at this place of the leg's order; undefined where nothing was recorded. */
export function estimateAt({ estimates }: Pick<Leg, "estimates">, place: number): Estimate | undefined {
  const at = place * NUMBERS_PER_ENDPOINT;
  const [cachedTokens, waitingTokens] = [estimates[at], estimates[at + 1]];
  const [firstTokenMs, tokenMs] = [estimates[at + 2], estimates[at + 3]];
  if (cachedTokens === undefined || waitingTokens === undefined) return undefined;
  if (firstTokenMs === undefined || tokenMs === undefined) return undefined;
  return { cachedTokens, waitingTokens, firstTokenMs, tokenMs };
}
