import { z } from "../../../core/contract/options.ts";

/** A measured number. */
const estimate = z
  .object({ value: z.number(), low: z.number().nullable(), high: z.number().nullable() })
  .describe("With the interval in which the true value is with a probability of 95 %; null where it takes more requests.");

/** How a number is distributed over the requests. */
const distribution = z.object({
  count: z.int().describe("Requests that have the number."),
  mean: estimate,
  p50: estimate,
  p95: estimate,
});

/** What became of the requests that a rule sent to one target. */
const figures = z.object({
  // It begins anew when the rule gets another target, or one that had the weight 0 a share.
  since: z.string().describe("ISO 8601: since when it counts."),
  requests: z.int(),
  // They say nothing about the target.
  unjudged: z.int().describe("Of those: clients that left, and what the router refused or failed itself."),
  errors: z
    .int()
    .describe("Of the others: 5xx, 429, no response, a broken or malformed one, or no ready replica that has the target."),
  errorRate: estimate.nullable(),
  // Of responses with status 2xx.
  ttftMs: distribution.nullable().describe("Milliseconds from the last byte of the request to the first of the response's body."),
  tokensPerSecond: distribution.nullable().describe("Of event streams, after the first byte."),
  // By why the replica ended the text; at most 16, the others together as "other".
  finishReasons: z.record(z.string(), z.int()),
  cachedShare: z.number().nullable().describe("Of the prompt tokens that replicas reported, the share that was cached."),
});

/** What a guard knows of its target. */
const guard = z.object({
  // The target that it is compared with.
  against: z.string(),
  // stopped: the guard set the weight to 0; blocked: it would, but may not now; idle: one of the targets gets nothing.
  state: z.enum(["watching", "stopped", "blocked", "idle"]),
  text: z.string().describe("What it found or waits for, in a sentence."),
  stoppedAt: z.string().nullable().describe("ISO 8601."),
  stops: z.int().describe("How often it has stopped the target since the router started."),
  requests: z.int().describe("Requests to the target that it judged."),
  minRequests: z.int(),
  confidence: z.number(),
  tests: z.array(
    z.object({
      what: z.enum(["errorRate", "ttft"]),
      // By how much the target may be worse.
      worseBy: z.number(),
      evidence: z.number().describe("The target is stopped when this is `needed`."),
      needed: z.number(),
    }),
  ),
});

/** What is known of a target: plain JSON. */
export const targetShape = {
  figures: figures.nullable(),
  guard: guard.nullable().describe("Null without a guard."),
};

export type Estimate = Readonly<z.infer<typeof estimate>>;
export type Distribution = Readonly<z.infer<typeof distribution>>;
export type TargetFigures = Readonly<z.infer<typeof figures>>;
export type GuardState = Readonly<z.infer<typeof guard>>;
export type RolloutStatus = Readonly<z.infer<z.ZodObject<typeof targetShape>>>;
