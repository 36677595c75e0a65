import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { leastFirst } from "./least-first.ts";

const fixedRange = z
  .strictObject({ min: z.number(), max: z.number() })
  .refine(({ min, max }) => min < max, { path: ["max"], message: "more than min" });

const normalization = z
  .strictObject({ adaptiveRange: z.strictObject({}).exactOptional(), fixedRange: fixedRange.exactOptional() })
  .refine(({ adaptiveRange, fixedRange: fixed }) => adaptiveRange === undefined || fixed === undefined, {
    path: ["fixedRange"],
    message: "either adaptiveRange or fixedRange",
  });

const options = z.strictObject({
  /** A number that a source gives, such as GPUUtilization. */
  attributeKey: z.string().min(1),
  algorithm: z.strictObject({
    type: z.enum(["linear_lower_is_better", "linear_higher_is_better"]),
    /** The range of values: that of the candidates, or a fixed one. */
    normalization: normalization.prefault({}),
  }),
});

/**
 * score = (value - min) / (max - min), or 1 minus that where lower is better; clamped to [0, 1] with a fixed range, 1 for all where
 * all candidates have the same value. No opinion on an endpoint without the number.
 */
export default defineScorer({
  type: "attribute-scorer",
  summary: "Prefers endpoints by a number that a source reads, such as the least GPU utilization.",
  options,
  reads: ({ attributeKey }) => [attributeKey],
  create({ attributeKey, algorithm: { type, normalization: range } }) {
    const sign = type === "linear_lower_is_better" ? 1 : -1;
    const { fixedRange: fixed } = range;
    return {
      score(_request, candidates, load) {
        const numberOf = (slot: number) => load.attributes(slot).get(attributeKey) ?? Number.NaN;
        if (fixed === undefined) return leastFirst(candidates, (slot) => sign * numberOf(slot));
        return candidates.map(({ slot }) => {
          const share = Math.min(1, Math.max(0, (numberOf(slot) - fixed.min) / (fixed.max - fixed.min)));
          if (Number.isNaN(share)) return null;
          return sign === 1 ? 1 - share : share;
        });
      },
      confidence: ({ slot }, load) => load.freshness(slot),
    };
  },
});
