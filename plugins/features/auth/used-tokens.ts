import type { Outcome } from "../../../core/contract/outcome.ts";
import { saidStatusOf } from "../../../core/report/blame.ts";

/** What a request that has ended took, in tokens, and whether its replica says so. */
export interface UsedTokens {
  readonly tokens: number;
  readonly isEstimated: boolean;
}

const NOTHING: UsedTokens = { tokens: 0, isEstimated: false };

/** Of a replica that had the prompt, and did not answer in time. */
const TIMED_OUT = 504;

/** The client got a 4xx, from the router or from a replica, or an error of the router before a replica had the request. */
export function wasRefused(outcome: Outcome): boolean {
  const status = saidStatusOf(outcome);
  return status >= 400 && (status < 500 || Number.isNaN(outcome.times.dispatchedMs));
}

/** It opened a WebSocket each of whose messages is a request, and counts as one. */
export function asksNothing({ status, request }: Outcome): boolean {
  return status === 101 && request === undefined;
}

/**
 * As the replica reports it. A request that broke off, or whose replica was too slow, counts with its prompt and what had been generated,
 * because the replica did that work. One that no replica took, or that failed, counts nothing.
 */
export function usedTokens(outcome: Outcome): UsedTokens {
  const { usage, request, times, outputTokens, isOutputEstimated } = outcome;
  if (request === undefined || Number.isNaN(times.dispatchedMs)) return NOTHING;
  const status = saidStatusOf(outcome);
  if (status >= 400 && status !== TIMED_OUT) return NOTHING;
  const prompt = usage?.promptTokens ?? Number.NaN;
  const tokens = orElse(prompt, request.promptTokens) + orElse(outputTokens, 0);
  return { tokens: Math.round(tokens), isEstimated: Number.isNaN(prompt) || isOutputEstimated };
}

function orElse(tokens: number, otherwise: number): number {
  return Number.isNaN(tokens) ? otherwise : tokens;
}
