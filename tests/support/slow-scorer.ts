/** A plugin that takes as many milliseconds for a request as its header x-scorer-ms says, and prefers the second endpoint. */
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

export default defineScorer({
  type: "slow",
  summary: "Takes its time",
  options: z.strictObject({}),
  create: () => ({
    score(request, candidates) {
      const endMs = performance.now() + Number(request.headers.get("x-scorer-ms") ?? 0);
      while (performance.now() < endMs);
      return candidates.map(({ slot }) => slot);
    },
  }),
});
