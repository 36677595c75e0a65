import { orElse, setting } from "../../../config/schema/section.ts";
import { partOf } from "../../../config/schema/values.ts";
import { lineOfText, z } from "../../../core/contract/options.ts";
import { count, part } from "../../../core/settings/row.ts";

const GUARD = {
  confidence: part(0.95, "1 minus the probability that this guard ever stops a target that is not worse.", 0.5, 1),
  minRequests: count(50, "Requests to the target before which it is not stopped.", 1, 1e9),
};

const worseBy = z
  .strictObject({
    errorRate: partOf(0, 1).describe("Points of the error rate: 0.02 or 2% stops 5 % errors against 2.9 %.").optional(),
    ttft: partOf(0, 100)
      .describe("Time to the first byte: 0.5 or 50% stops a target that takes typically 1.5 times as long.")
      .optional(),
  })
  .refine(({ errorRate, ttft }) => errorRate !== undefined || ttft !== undefined, "errorRate, ttft or both")
  .describe("How much worse it may be. What is left out is not judged. Default { errorRate: 2%, ttft: 50% }.");

/** One entry of `spec.guards`. */
export const guardSchema = z.strictObject({
  rule: lineOfText.describe('A rewrite by its name, or one of its rules by its index, such as "food-review/0".'),
  target: lineOfText.describe("The target that is stopped when it is worse: its weight becomes 0."),
  against: lineOfText
    .describe("The target that it is compared with. Default: the one with the largest weight among the rule's others.")
    .optional(),
  worseBy: orElse(
    worseBy.transform(({ errorRate, ttft }) => ({ errorRate, ttft })),
    { errorRate: 0.02, ttft: 0.5 },
  ),
  confidence: setting(GUARD.confidence),
  minRequests: setting(GUARD.minRequests),
});

export type GuardSpec = z.infer<typeof guardSchema>;
