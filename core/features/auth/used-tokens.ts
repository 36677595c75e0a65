import type { Outcome } from "../../contract/outcome.ts";

/** What a request that has ended took, in tokens, and whether its replica says so. */
export interface UsedTokens {
  readonly tokens: number;
  readonly isEstimated: boolean;
}

const NOTHING: UsedTokens = { tokens: 0, isEstimated: false };

/**
 * As the replica reports it. A request that broke off is taken for its prompt and what had been generated, because the replica had the
 * work; one that no replica took, or that was refused, for nothing.
 */
export function usedTokens({ usage, request, status, times, outputTokens, isOutputEstimated }: Outcome): UsedTokens {
  if (request === undefined || Number.isNaN(times.dispatchedMs) || status >= 400) return NOTHING;
  const prompt = usage?.promptTokens ?? Number.NaN;
  const tokens = orElse(prompt, request.promptTokens) + orElse(outputTokens, 0);
  return { tokens: Math.round(tokens), isEstimated: Number.isNaN(prompt) || isOutputEstimated };
}

function orElse(tokens: number, otherwise: number): number {
  return Number.isNaN(tokens) ? otherwise : tokens;
}
