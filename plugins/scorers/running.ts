import { defineScorer } from "../../core/contract/plugin.ts";
import { leastFirst } from "./least-first.ts";

/** score = (max - r) / (max - min), r = requests running in the replica, as scraped. */
export default defineScorer({
  type: "running",
  summary: "Prefers the endpoint that runs the fewest requests.",
  needs: () => [{ reported: ["running"], lack: "no replica reports how many requests it runs, so it has no opinion" }],
  create: () => ({
    score: (_request, candidates, load) => leastFirst(candidates, (slot) => load.running(slot)),
    confidence: ({ slot }, load) => load.freshness(slot),
  }),
});
