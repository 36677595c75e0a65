import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** How probable it may be that an endpoint is ever ejected whose answers are empty as often as the others'. */
  falseAlarms: z.number().min(1e-12).max(0.5).default(1e-4),
  /** How much larger than the rest of the pool its share of empty answers must be. */
  excess: z.number().min(0).max(1).default(0.2),
});

/**
 * Answers of status 200 in which nothing was generated. A prompt may want one; an endpoint whose answers are empty far more often than
 * others' for the same target is broken, however its answers look. They are quick, so it looks idle and draws the traffic.
 */
export default defineDetector({
  type: "empty-answers",
  summary: "Ejects an endpoint whose answers are empty far more often than the pool's for the same model.",
  runsByDefault: true,
  options,
  create: ({ falseAlarms, excess }) => ({
    detect({ emptyEvidence, emptyShare }, others) {
      if (emptyEvidence < 1 / falseAlarms) return undefined;
      const shares = others.map((other) => other.emptyShare).filter((share) => !Number.isNaN(share));
      const usual = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
      if (emptyShare <= usual + excess) return undefined;
      return `${Math.round(100 * emptyShare)} % of its latest answers are empty, ${Math.round(100 * usual)} % elsewhere`;
    },
  }),
});
