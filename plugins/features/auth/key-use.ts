import { moment, text } from "../../../core/contract/fact-fields.ts";
import type { SharedFact } from "../../../core/contract/slots/shared.ts";

// What one router tells others of a key.

/** Of the windows in which requests and tokens are counted. */
export const BUCKET_MS = 1000;
/** One more than a minute has, so that no minute ever holds more than the limit. */
export const SECONDS = 61;
/** Places in a second of the window. */
export const REQUESTS = 0;
export const TOKENS = 1;
export const WIDTH = 2;

const MOST_NAME_CHARS = 4_000;

/** What a key has used at one router. */
export interface KeyUse {
  /** When the router began to count. */
  readonly sinceMs: number;
  /** Since then. */
  readonly requests: number;
  readonly tokens: number;
  readonly inFlight: number;
  /** What requests under way are expected to take. */
  readonly reservedTokens: number;
  /** In the last minute, and how long ago the first of that was. */
  readonly minuteRequests: number;
  readonly minuteTokens: number;
  readonly spanMs: number;
}

export function factOf(name: string, use: KeyUse): SharedFact {
  const { sinceMs, requests, tokens, inFlight, reservedTokens, minuteRequests, minuteTokens, spanMs } = use;
  return [name, sinceMs, requests, tokens, inFlight, reservedTokens, minuteRequests, minuteTokens, Math.round(spanMs)];
}

/** Throws BadFact. */
export function useOf([name, ...fields]: SharedFact): { readonly name: string; readonly use: KeyUse } {
  const amount = (place: number) => Math.max(0, moment(fields[place]));
  return {
    name: text(name, MOST_NAME_CHARS),
    use: {
      sinceMs: amount(0),
      requests: amount(1),
      tokens: amount(2),
      inFlight: amount(3),
      reservedTokens: amount(4),
      minuteRequests: amount(5),
      minuteTokens: amount(6),
      spanMs: amount(7),
    },
  };
}
