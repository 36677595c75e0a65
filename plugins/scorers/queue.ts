import { defineScorer } from "../../core/contract/plugin.ts";
import { leastFirst } from "./least-first.ts";

/** score = (max - q) / (max - min), q = requests waiting in the replica's own queue, as scraped. */
export default defineScorer({
  type: "queue",
  summary: "Prefers the endpoint with the shortest queue of its own.",
  needs: () => [{ reported: ["waiting"], lack: "no replica reports how many requests wait in its queue, so it has no opinion" }],
  create: () => ({
    score: (_request, candidates, load) => leastFirst(candidates, (slot) => load.waiting(slot)),
    confidence: ({ slot }, load) => load.freshness(slot),
  }),
});
