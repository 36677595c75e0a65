import type { Endpoint } from "./endpoint.ts";
import type { Filter } from "./filter.ts";
import type { LoadView } from "./load-view.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * How good is each candidate? The same inputs must give the same scores. A scorer may filter too; its `filter` then runs at the
 * scorer's place in the profile.
 *
 * @example
 * create: () => ({
 *   score: (_request, candidates, load) => candidates.map(({ slot }) => 1 / (1 + load.inFlight(slot))),
 * })
 */
export interface Scorer extends Partial<Filter> {
  /**
   * One number for each candidate, in their order, in [0, 1], 1 is best; null for no opinion, on one candidate or on all.
   * A fault (a throw, a wrong length, a number outside [0, 1]) counts as no opinion and is recorded.
   */
  score(request: InferenceRequest, candidates: readonly Endpoint[], load: LoadView): ArrayLike<number | null> | null;
  /** How much the score of one candidate counts, in [0, 1]; 1 by default. Use less for old scraped values. */
  confidence?(endpoint: Endpoint, load: LoadView): number;
}
