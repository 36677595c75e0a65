import type { Endpoint } from "./endpoint.ts";
import type { RouterError } from "./errors.ts";

/** What was chosen and why: plain data, enough to answer "why did it go there?". */
export interface Decision {
  readonly requestId: string;
  /** When it was made, in milliseconds on the router's clock. */
  readonly atMs: number;
  readonly model: string;
  readonly target: string;
  readonly rule: string;
  /** Every endpoint of the pool at that moment. */
  readonly endpoints: readonly Endpoint[];
  /** One for each endpoint that works on the request together; today always one. */
  readonly legs: readonly Leg[];
  /** Set when nobody may serve it. */
  readonly refusal: RouterError | undefined;
  /** Plugins that broke their contract on this request. */
  readonly faults: readonly Fault[];
}

/** One profile's choice: who was dropped, how the others scored, and in which order they are tried. */
export interface Leg {
  readonly profile: string;
  /** Who was dropped, by which filter, in the order the filters ran. */
  readonly dropped: readonly Dropped[];
  /** Who was left to be scored. */
  readonly candidates: readonly Endpoint[];
  /** Each scorer's numbers, aligned with `candidates`; null = no opinion. */
  readonly scores: readonly ScorerColumn[];
  /** Weighted mean of the opinions, aligned with `candidates`; higher is better. */
  readonly totals: ArrayLike<number>;
  /** Best first; the rest are spares for a retry. Empty when the decision refuses. */
  readonly order: readonly Endpoint[];
}

export interface Dropped {
  readonly filter: string;
  readonly endpoints: readonly Endpoint[];
}

export interface ScorerColumn {
  readonly scorer: string;
  readonly weight: number;
  readonly values: ArrayLike<number | null>;
  /** How much each value counted beside the weight; absent when all counted fully. */
  readonly confidences?: ArrayLike<number>;
}

export interface Fault {
  readonly plugin: string;
  readonly message: string;
}
