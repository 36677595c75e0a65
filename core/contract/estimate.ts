import type { Leg } from "./decision.ts";

/** What was expected of one endpoint when the decision was made. */
export interface Estimate {
  /** Prompt tokens of the request that were believed cached there; NaN if no plugin reads prefixes. */
  readonly cachedTokens: number;
  /** Tokens of other prompts that were sent there and were still to be processed. */
  readonly waitingTokens: number;
  /** Time to the request's first token, in milliseconds; NaN before any prompt's speed was measured. */
  readonly firstTokenMs: number;
}

/** Numbers in `Leg.estimates` for each endpoint, in the order of the fields above. */
export const NUMBERS_PER_ENDPOINT = 3;

/**
 * What was expected of the endpoint at this place of the leg's order; undefined where nothing was recorded.
 *
 * @example
 * const expectedMs = estimateAt(leg, 0)?.firstTokenMs ?? Number.NaN;
 */
export function estimateAt({ estimates }: Leg, place: number): Estimate | undefined {
  const at = place * NUMBERS_PER_ENDPOINT;
  const [cachedTokens, waitingTokens, firstTokenMs] = [estimates[at], estimates[at + 1], estimates[at + 2]];
  if (cachedTokens === undefined || waitingTokens === undefined || firstTokenMs === undefined) return undefined;
  return { cachedTokens, waitingTokens, firstTokenMs };
}
