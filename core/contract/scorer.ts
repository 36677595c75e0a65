import type { Endpoint } from "./endpoint.ts";
import type { Filter } from "./filter.ts";
import type { LoadView } from "./load-view.ts";
import type { ProfilePlugin } from "./profile-plugin.ts";
import type { InferenceRequest } from "./request.ts";

/**
 * How good is each candidate? The same inputs must give the same scores. A scorer may filter too: then its `filter` runs at its
 * place in the profile.
 *
 * @example
 * create: () => ({
 *   score: (_request, candidates, load) => candidates.map(({ slot }) => 1 / (1 + load.inFlight(slot))),
 * })
 */
export interface Scorer extends ProfilePlugin, Partial<Pick<Filter, "filter" | "refuse">> {
  /**
   * One number per candidate, in their order, each in [0, 1], 1 is best; null where it has no opinion on one, or on all.
   * A fault (a throw, a wrong length, a number outside the range) counts as no opinion and is recorded.
   */
  score(request: InferenceRequest, candidates: readonly Endpoint[], load: LoadView): ArrayLike<number | null> | null;
  /** How much its opinion on one candidate counts, in [0, 1]; without it, fully. Old scraped values deserve less. */
  confidence?(endpoint: Endpoint, load: LoadView): number;
}
