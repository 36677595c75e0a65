import { z } from "../core/contract/options.ts";
import { lineOfText } from "./line-of-text.ts";
import { whole } from "./whole.ts";

// The schema of one entry of spec.guards.

/** A number from `min` to below `most`, or the same in percent: 0.02 or 2%. */
function share(min: number, most: number) {
  const wanted = `a number from ${min} to below ${most}, or percent such as 2%`;
  const number = z.number(wanted).min(min, wanted).lt(most, wanted);
  const percent = z
    .string(wanted)
    .regex(/^\d+(\.\d+)? ?%$/, wanted)
    .transform((text) => Number.parseFloat(text) / 100)
    .pipe(number);
  return z.union([number, percent]);
}

export const guardSchema = z.strictObject({
  rule: lineOfText.describe('A rewrite by its name, or one of its rules by its index, such as "food-review/0".'),
  target: lineOfText.describe("The target that is stopped when it is worse: its weight becomes 0."),
  against: lineOfText
    .describe("The target that it is compared with. Default: the one with the largest weight among the rule's others.")
    .optional(),
  worseBy: z
    .strictObject({
      errorRate: share(0, 1).describe("Points of the error rate: 0.02 or 2% stops 5 % errors against 2.9 %.").optional(),
      ttft: share(0, 100)
        .describe("Time to the first byte: 0.5 or 50% stops a target that takes typically 1.5 times as long.")
        .optional(),
    })
    .refine(({ errorRate, ttft }) => errorRate !== undefined || ttft !== undefined, "errorRate, ttft or both")
    .describe("How much worse it may be. What is left out is not judged. Default { errorRate: 2%, ttft: 50% }.")
    .optional(),
  confidence: share(0.5, 1)
    .describe("1 minus the probability that this guard ever stops a target that is not worse. Default 0.95.")
    .optional(),
  minRequests: whole(1, 1_000_000_000).describe("Requests to the target before which it is not stopped. Default 50.").optional(),
});

export type GuardSpec = z.infer<typeof guardSchema>;
