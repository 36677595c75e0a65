import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";

/** More causes of failures are counted as "other": replicas could invent them. */
const MOST_CAUSES = 32;
/** In seconds. */
const BOUNDS = new Bounds([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);

/** What has become of requests where prompts and answers are taken apart. */
export class PairsTally {
  /** Served by a pair. */
  paired = 0;
  /** Served by one endpoint, because the decider said so. */
  alone = 0;
  /** Served by one endpoint, because nothing could be transferred for them, or no endpoint processes prompts. */
  unpairable = 0;
  /** A pair was to serve them, and one endpoint did. */
  failed = 0;
  /** Those by their cause. */
  readonly causes = new Map<string, number>();
  readonly prefillSeconds = new Histogram(BOUNDS);
  readonly transferSeconds = new Histogram(BOUNDS);

  /** A request has ended. */
  ended({ decision, prefill }: Outcome): void {
    const pairing = decision?.pairing;
    if (pairing === undefined) return;
    if (prefill === undefined) {
      if (pairing.uncachedTokens > 0 || !Number.isNaN(pairing.aloneMs)) this.alone += 1;
      else this.unpairable += 1;
      return;
    }
    if (!Number.isNaN(prefill.tookMs)) this.prefillSeconds.add(prefill.tookMs / 1000);
    if (!Number.isNaN(prefill.transferMs)) this.transferSeconds.add(prefill.transferMs / 1000);
    if (prefill.end === "transferred") this.paired += 1;
    else if (prefill.end === "alone") this.#failed(prefill.cause);
  }

  #failed(cause: string): void {
    const known = this.causes.has(cause) || this.causes.size < MOST_CAUSES ? cause : "other";
    this.failed += 1;
    this.causes.set(known, (this.causes.get(known) ?? 0) + 1);
  }
}
