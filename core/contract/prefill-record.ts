import type { Attempt } from "./outcome.ts";

/** What became of a request's prompt on an endpoint of its own. Moments are in milliseconds since the request's head. */
export interface PrefillRecord {
  /** How the cache moves: the name of a transfer. */
  readonly transfer: string;
  /** The endpoint that processed the prompt, or was to; "" before one was tried. */
  readonly endpoint: string;
  /** "" as long as it is under way. alone: the answer was generated without it. */
  readonly end: "" | "transferred" | "alone";
  /** Why it was generated without it; "" if it was not. */
  readonly cause: string;
  /** From its first try to the response that says where the cache is; NaN without one. */
  readonly tookMs: number;
  /** From the first byte sent for the answer to its first token, with what was transferred; NaN without one. */
  readonly transferMs: number;
  readonly expectedTransferMs: number;
  /** Of the prompt's tokens, those that its endpoint had cached, as it reports; NaN if it does not. */
  readonly cachedTokens: number;
  /** Every try at an endpoint for the prompt, in order. */
  readonly attempts: readonly Attempt[];
}
