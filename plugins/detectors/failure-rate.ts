import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Fewer responses in half a minute say nothing. */
  minRequests: z.int().min(1).max(1_000_000).default(10),
  /** How much higher than the rest of the pool its share of failures may be. */
  excess: z.number().min(0).max(1).default(0.3),
});

/** failures / (failures + successes) of the last half minute, against the same of all other endpoints together. */
export default defineDetector({
  type: "failure-rate",
  summary: "Ejects an endpoint that fails far more often than the rest of the pool.",
  runsByDefault: true,
  options,
  create: ({ minRequests, excess }) => ({
    detect({ recentFailures, recentSuccesses }, others) {
      const total = recentFailures + recentSuccesses;
      if (total < minRequests || recentFailures / total <= excess) return undefined;
      let otherFailures = 0;
      let otherTotal = 0;
      for (const other of others) {
        otherFailures += other.recentFailures;
        otherTotal += other.recentFailures + other.recentSuccesses;
      }
      const usual = otherTotal === 0 ? 0 : otherFailures / otherTotal;
      if (recentFailures / total <= usual + excess) return undefined;
      return `${recentFailures} of its last ${total} requests failed, ${Math.round(100 * usual)} % elsewhere`;
    },
  }),
});
