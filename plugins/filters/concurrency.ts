import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  concurrencyMode: z.enum(["requests", "tokens"]).default("requests"),
  /** Requests in flight to one endpoint. */
  maxConcurrency: z.int().min(1).max(1_000_000_000).default(100),
  /** Prompt tokens sent to one endpoint that are not yet processed. */
  maxTokenConcurrency: z.int().min(1).max(1_000_000_000_000).default(1_000_000),
  /** The limit is multiplied by 1 + headroom. */
  headroom: z.number().min(0).max(100).default(0),
  /** What happens when every candidate is full. */
  whenAllFull: z.enum(["refuse", "keep"]).default("refuse"),
});

const ALL_FULL = "Every replica that may serve this request has reached its limit; try again shortly.";

export default defineFilter({
  type: "concurrency",
  summary: "Drops endpoints that have reached their limit of requests or prompt tokens in flight from this router.",
  options,
  create({ concurrencyMode, maxConcurrency, maxTokenConcurrency, headroom, whenAllFull }) {
    const isByTokens = concurrencyMode === "tokens";
    const limit = Math.floor((isByTokens ? maxTokenConcurrency : maxConcurrency) * (1 + headroom));
    return {
      expresses: whenAllFull === "keep" ? "wish" : "need",
      filter(_request, candidates, load) {
        const used = (slot: number) => (isByTokens ? load.prefillTokens(slot) : load.inFlight(slot));
        const kept = candidates.filter(({ slot }) => used(slot) < limit);
        return kept.length === 0 && whenAllFull === "keep" ? candidates : kept;
      },
      refuse: () => new RouterError("saturated", ALL_FULL, { retryAfterS: 1 }),
    };
  },
});
