import { z } from "../../contract/options.ts";

// As core/contract/rollout.ts has them.

const estimate = z
  .object({ value: z.number(), low: z.number().nullable(), high: z.number().nullable() })
  .describe("With the interval in which the true value is with a probability of 95 %; null where it takes more requests.");

const distribution = z.object({
  count: z.int().describe("Requests that have the number."),
  mean: estimate,
  p50: estimate,
  p95: estimate,
});

const figures = z.object({
  since: z.string().describe("ISO 8601: since when it counts."),
  requests: z.int(),
  unjudged: z.int().describe("Of those: clients that left, and what the router refused or failed itself."),
  errors: z
    .int()
    .describe("Of the others: 5xx, 429, no response, a broken or malformed one, or no ready replica that has the target."),
  errorRate: estimate.nullable(),
  ttftMs: distribution.nullable().describe("Milliseconds from the last byte of the request to the first of the response's body."),
  tokensPerSecond: distribution.nullable().describe("Of event streams, after the first byte."),
  finishReasons: z.record(z.string(), z.int()),
  cachedShare: z.number().nullable().describe("Of the prompt tokens that replicas reported, the share that was cached."),
});

const guard = z.object({
  against: z.string(),
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
      worseBy: z.number(),
      evidence: z.number().describe("The target is stopped when this is `needed`."),
      needed: z.number(),
    }),
  ),
});

/** One rule of a rewrite, with what became of its requests. */
export const ruleSchema = z.object({
  name: z.string(),
  targets: z.array(
    z.object({
      name: z.string(),
      figures: figures.nullable(),
      guard: guard.nullable().describe("Null without a guard."),
    }),
  ),
});
