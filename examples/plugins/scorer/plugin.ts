import { defineScorer, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  half: z.number().positive().default(8).describe("Requests in flight at which an endpoint scores one half."),
});

export default defineScorer({
  type: "my-scorer",
  summary: "Prefers endpoints with few requests in flight.",
  contract: "1.0",
  options,
  create: ({ half }) => ({
    // One number for each candidate, in their order: from 0 to 1, the best; null is no opinion.
    score: (_request, candidates, load) => candidates.map(({ slot }) => half / (half + load.inFlight(slot))),
  }),
});
