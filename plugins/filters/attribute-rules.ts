import { z } from "../../core/contract/options.ts";

const OPERATORS = {
  LessThan: (value: number, limit: number) => value < limit,
  LessThanOrEqual: (value: number, limit: number) => value <= limit,
  GreaterThan: (value: number, limit: number) => value > limit,
  GreaterThanOrEqual: (value: number, limit: number) => value >= limit,
  Equal: (value: number, limit: number) => value === limit,
  NotEqual: (value: number, limit: number) => value !== limit,
};

const operators = Object.keys(OPERATORS) as (keyof typeof OPERATORS)[];
const higherIsBetter = z.boolean().default(true);

/** Which values stay. The section that belongs to `type` has its numbers. */
export const attributeRule = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("threshold"), threshold: z.strictObject({ operator: z.enum(operators), value: z.number() }) }),
  z.strictObject({
    type: z.literal("range"),
    range: z
      .strictObject({ min: z.number(), max: z.number() })
      .refine(({ min, max }) => min <= max, { path: ["max"], message: "at least min" }),
  }),
  z.strictObject({ type: z.literal("topK"), topK: z.strictObject({ k: z.int().min(1).max(1_024), higherIsBetter }) }),
  z.strictObject({
    type: z.literal("percentile"),
    percentile: z.strictObject({ percentile: z.number().min(0).max(100), higherIsBetter }),
  }),
]);

type AttributeRule = z.output<typeof attributeRule>;

/** For the known values of all candidates: which of them stay. Candidates with equal values in `topK` stay in their order. */
export function keptBy(rule: AttributeRule, values: readonly number[]): readonly boolean[] {
  switch (rule.type) {
    case "threshold": {
      const holds = OPERATORS[rule.threshold.operator];
      return values.map((value) => holds(value, rule.threshold.value));
    }
    case "range":
      return values.map((value) => value >= rule.range.min && value <= rule.range.max);
    case "topK": {
      const { k, higherIsBetter } = rule.topK;
      const best = bestFirst(values, higherIsBetter).slice(0, k);
      return values.map((_, index) => best.includes(index));
    }
    case "percentile": {
      const { percentile, higherIsBetter } = rule.percentile;
      const cutoff = nearestRank(values, percentile);
      return values.map((value) => (higherIsBetter ? value >= cutoff : value <= cutoff));
    }
  }
}

function bestFirst(values: readonly number[], higherIsBetter: boolean): readonly number[] {
  const sign = higherIsBetter ? -1 : 1;
  return values.map((_, index) => index).sort((one, other) => sign * (values[one]! - values[other]!) || one - other);
}

/** The value at place ceil(percentile / 100 x n), from 1, of the values in rising order. */
function nearestRank(values: readonly number[], percentile: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil((percentile / 100) * sorted.length)) - 1] ?? Number.NaN;
}
