import type { Endpoint } from "./endpoint.ts";
import type { RouterError } from "./errors.ts";
import type { Pairing } from "./pairing.ts";
import type { DrawMethod } from "./request.ts";

/** What was chosen, and why, without the error of a refusal, which refers to the request: this may be kept. */
export interface Choice {
  readonly requestId: string;
  /** When it was made, in milliseconds on the router's clock. */
  readonly atMs: number;
  readonly model: string;
  readonly target: string;
  readonly rule: string;
  /** How the rule drew the target; undefined if no rule did, or it does not say. */
  readonly draw: DrawMethod | undefined;
  /** Every endpoint of the pool at that moment. */
  readonly endpoints: readonly Endpoint[];
  /** One for each endpoint that takes part in serving the request. The client gets the response of the first one. */
  readonly legs: readonly Leg[];
  /** Whether its prompt is processed on another endpoint, and why; absent where the config separates nothing. */
  readonly pairing?: Pairing;
  /** Plugins that broke their contract on this request. */
  readonly faults: readonly Fault[];
}

/**
 * What was chosen, and why: plain data, enough to explain why a request went to an endpoint.
 *
 * @example
 * const first = decision.legs[0]?.order[0]?.name ?? "nobody";
 */
export interface Decision extends Choice {
  /** Set when no endpoint may serve it. */
  readonly refusal: RouterError | undefined;
}

/** What an endpoint does of a request, where two share it: process the prompt, or generate the answer. */
export type LegRole = "prefill" | "decode";

/** One profile's choice: which endpoints were dropped, how the others scored, and in which order they are tried. */
export interface Leg {
  /** Absent: the whole request. */
  readonly role?: LegRole;
  readonly profile: string;
  /** Which endpoints each filter dropped, in the order the filters ran. */
  readonly dropped: readonly Dropped[];
  /** The endpoints that were left to be scored. */
  readonly candidates: readonly Endpoint[];
  /** Each scorer's numbers, aligned with `candidates`; null = no opinion. */
  readonly scores: readonly ScorerColumn[];
  /** Weighted mean of the opinions, aligned with `candidates`; higher is better. */
  readonly totals: ArrayLike<number>;
  /** Name and type of the picker. */
  readonly picker: string;
  readonly pickerType: string;
  /** Best first; the rest are tried when it fails. Empty when the decision refuses. */
  readonly order: readonly Endpoint[];
  /** Endpoints that could serve the request too, in no order: tried when none is left of `order`. Absent: there is none. */
  readonly spares?: readonly Endpoint[];
  /** The first one is first because the request's session has its place there, whatever its scores are. */
  readonly isPlaced?: boolean;
  /** What was expected at the first endpoints of `order`; read it with `estimateAt`. */
  readonly estimates: ArrayLike<number>;
}

export interface Dropped {
  readonly filter: string;
  readonly endpoints: readonly Endpoint[];
}

export interface ScorerColumn {
  readonly scorer: string;
  readonly weight: number;
  readonly values: ArrayLike<number | null>;
  /** Confidence of each value, in [0, 1]: the weight is multiplied by it. Absent when all are 1. */
  readonly confidences?: ArrayLike<number>;
}

export interface Fault {
  readonly plugin: string;
  readonly message: string;
}
