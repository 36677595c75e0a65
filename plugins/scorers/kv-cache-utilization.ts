import { defineScorer } from "../../core/contract/plugin.ts";

/** score = 1 - KV-cache utilization, as scraped; no opinion if it is unknown. */
export default defineScorer({
  type: "kv-cache-utilization",
  summary: "Prefers the endpoint with the most free KV cache.",
  needs: () => [{ reported: ["kvUsage"], lack: "no replica reports how full its KV cache is, so it has no opinion" }],
  create: () => ({
    score: (_request, candidates, load) =>
      candidates.map(({ slot }) => {
        const usage = load.kvUsage(slot);
        return Number.isFinite(usage) ? Math.min(1, Math.max(0, 1 - usage)) : null;
      }),
    confidence: ({ slot }, load) => load.freshness(slot),
  }),
});
