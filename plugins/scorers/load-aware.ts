import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** A queue with at least this many requests scores 0. */
  threshold: z.int().min(1).max(1_000_000).default(128),
});

/** score = 0.5 x (1 - min(q, threshold) / threshold), q = requests waiting, as scraped; no opinion if q is unknown. */
export default defineScorer({
  type: "load-aware",
  summary: "Prefers endpoints without a queue of their own, then shorter queues, on a fixed scale.",
  options,
  needs: () => [{ reported: ["waiting"], lack: "no replica reports how many requests wait in its queue, so it has no opinion" }],
  create: ({ threshold }) => ({
    score: (_request, candidates, load) =>
      candidates.map(({ slot }) => {
        const waiting = load.waiting(slot);
        return Number.isNaN(waiting) ? null : 0.5 * (1 - Math.min(waiting, threshold) / threshold);
      }),
    confidence: ({ slot }, load) => load.freshness(slot),
  }),
});
