import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Requests that wait in a replica's own queue, scraped. */
  queueDepthThreshold: z.int().min(1).max(1_000_000_000).default(5),
  kvCacheUtilThreshold: z.number().gt(0).max(1).default(0.8),
  /** Both thresholds are multiplied by 1 + headroom. */
  headroom: z.number().min(0).max(100).default(0),
});

/** Drops endpoints whose scraped queue or KV cache is at its limit. Unknown numbers drop none. If all are full, all stay. */
export default defineFilter({
  type: "utilization",
  summary: "Drops endpoints whose own queue or KV cache is full, as long as another is left.",
  options,
  needs: () => [
    {
      reported: ["waiting", "kvUsage"],
      lack: "no replica reports how many requests wait in its queue or how full its KV cache is, so it drops none",
    },
  ],
  create({ queueDepthThreshold, kvCacheUtilThreshold, headroom }) {
    const mostWaiting = queueDepthThreshold * (1 + headroom);
    const mostUsage = kvCacheUtilThreshold * (1 + headroom);
    return {
      expresses: "wish",
      filter(_request, candidates, load) {
        // Comparisons with NaN are false, so unknown values drop no endpoint.
        const kept = candidates.filter(({ slot }) => !(load.waiting(slot) >= mostWaiting || load.kvUsage(slot) >= mostUsage));
        return kept.length === 0 ? candidates : kept;
      },
    };
  },
});
