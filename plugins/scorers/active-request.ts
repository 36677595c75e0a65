import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** With at most this many requests in flight an endpoint counts as idle and scores 1. */
  idleThreshold: z.int().min(0).max(1_000_000).default(0),
  /** The best score an endpoint that is not idle can have. */
  maxBusyScore: z.number().min(0).max(1).default(1),
});

/** score = 1 when idle, else (max - c) / max x maxBusyScore; c = requests in flight from this router, max = the largest c. */
export default defineScorer({
  type: "active-request",
  summary: "Prefers the endpoint with the fewest requests in flight from this router.",
  options,
  create: ({ idleThreshold, maxBusyScore }) => ({
    score(_request, candidates, load) {
      let max = 0;
      for (const { slot } of candidates) max = Math.max(max, load.inFlight(slot));
      return candidates.map(({ slot }) => {
        const count = load.inFlight(slot);
        return count <= idleThreshold ? 1 : ((max - count) / max) * maxBusyScore;
      });
    },
  }),
});
