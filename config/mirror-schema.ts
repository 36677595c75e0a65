import { z } from "../core/contract/options.ts";
import { inSeconds } from "./measures.ts";
import { whole } from "./whole.ts";

const WANTED_PERCENT = "a number above 0, at most 100";
const WANTED_SECONDS = "a number of seconds from 1 to 3600";

/** A share in percent; fractions are allowed. */
export const percent = (description: string) =>
  z.number(WANTED_PERCENT).gt(0, WANTED_PERCENT).max(100, WANTED_PERCENT).describe(description);

/** One entry of `spec.mirrors`. */
export const mirror = z.strictObject({
  rule: z
    .string()
    .min(1, "the name of a rewrite rule")
    .describe("The rule whose requests are copied: the name of its resource, with /0, /1 … where that has several rules."),
  target: z
    .string()
    .min(1, "the name of a target")
    .describe("The model name that copies are sent with: a target of a rewrite rule, perhaps with the weight 0."),
  percent: percent("Of the rule's requests, how many are copied. Default 100.").optional(),
  maxInFlight: whole(1, 1024)
    .describe("Most copies under way at the same time; requests beyond it are not copied. Default 16.")
    .optional(),
  timeoutSeconds: inSeconds(z.number(WANTED_SECONDS).min(1, WANTED_SECONDS).max(3600, WANTED_SECONDS))
    .describe("How long one copy may take before it is ended. Default 60.")
    .optional(),
});

export type MirrorSpec = z.infer<typeof mirror>;
