import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** How many times slower than the pool's usual it may be, for equal work. */
  factor: z.number().min(1).max(1_000).default(5),
  /** A first token that comes less than this later than expected harms nobody. */
  minExcessMs: z.number().min(0).max(3_600_000).default(500),
});

/** slowness = seen / expected time to the first token; compared with the median of the other endpoints. */
export default defineDetector({
  type: "slow-first-token",
  summary: "Ejects an endpoint whose first tokens come far later than the pool's for equal work.",
  runsByDefault: true,
  options,
  create: ({ factor, minExcessMs }) => ({
    detect({ slowness, excessMs }, others) {
      if (Number.isNaN(slowness) || excessMs < minExcessMs) return undefined;
      const usual = median(others.map((other) => other.slowness).filter((value) => !Number.isNaN(value)));
      if (Number.isNaN(usual) || slowness <= factor * usual) return undefined;
      return `its first tokens take ${(slowness / usual).toFixed(1)} times as long as elsewhere for equal work`;
    },
  }),
});

/** NaN for an empty list. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
