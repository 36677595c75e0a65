import type { CandidateReport, ChoiceReport } from "./choice-report.ts";
import type { DecisionReport } from "./decision-report.ts";
import type { DryRunReport } from "./dry-run-report.ts";
import type { MirrorReport } from "./mirror.ts";
import { z } from "./options.ts";
import type { Attempt, AttemptFailure } from "./outcome.ts";
import type { ShadowReport } from "./shadow.ts";

// The shape of reports for programs: what --json prints and the admin API sends. A key is never removed or given another meaning;
// keys may be added.

const count = z.number().min(0);
const names = z.array(z.string());

const candidate: z.ZodType<CandidateReport> = z.object({
  endpoint: z.string(),
  cachedTokens: count.nullable().describe("Tokens of this prompt that were believed cached there; null if unknown."),
  uncachedTokens: count.nullable().describe("Tokens of this prompt that it would have to process; null if unknown."),
  waitingTokens: count
    .nullable()
    .describe("Tokens of other prompts that were sent there and were still to be processed; null beyond the first 16."),
  firstTokenMs: count.nullable().describe("Expected time to the first token, in milliseconds; null before any was measured."),
  total: z.number().describe("sum(weight x confidence x score) / sum(weight x confidence); higher is better."),
  scores: z.array(z.number().nullable()).describe("One for each scorer, in [0, 1]; null = no opinion."),
  confidences: z.array(z.number()).describe("One for each scorer: its weight was multiplied by it."),
});

const target = z.object({ name: z.string(), weight: z.number() });

const choice = {
  api: z.string().describe('Type of the parser that serves the path, such as "chat-completions".'),
  isStream: z.boolean(),
  promptTokens: count.describe("Estimated, and corrected by what replicas report."),
  profile: z.string(),
  model: z.string().describe("The name that the client asked for."),
  target: z.string().describe("The name that is sent to the replica."),
  rule: z.string().describe('The rewrite rule that drew the target; "" if none did.'),
  draw: z
    .object({
      by: z.enum(["share", "header"]).describe("share: by the weights, in turn; header: by the value of a header."),
      header: z.string().describe('Its name; "" for share.'),
      targets: z.array(target).describe("Those that took part."),
    })
    .nullable()
    .describe("How the rule drew the target; null if no rule did."),
  why: z.string().describe("The reason in a few sentences, for people: its words may change."),
  poolSize: count,
  dropped: z.array(
    z.object({
      filter: z.string(),
      endpoints: names,
      reasons: z.record(z.string(), z.string()).describe("By endpoint, for people."),
    }),
  ),
  picker: z.string().describe("Its name in the config."),
  scorers: z.array(z.object({ name: z.string(), weight: z.number() })).describe("Those that had an opinion."),
  candidates: z.array(candidate).describe("In the order in which they would be tried."),
  refusal: z.object({ code: z.string(), message: z.string() }).nullable().describe("Null unless no endpoint may serve it."),
  faults: z.array(z.object({ plugin: z.string(), message: z.string() })).describe("Plugins that broke their contract."),
} satisfies { readonly [Key in keyof ChoiceReport]: z.ZodType<ChoiceReport[Key]> };

const failure: z.ZodType<AttemptFailure> = z.literal([
  "connect-failed",
  "connect-timeout",
  "stale",
  "reset",
  "timeout",
  "gone",
  "wedged",
  "invalid",
  "malformed",
  "aborted",
  "saturated",
  "removed",
]);

const attempt: z.ZodType<Attempt> = z.object({
  endpoint: z.string(),
  result: z.union([z.int(), failure]).describe("The HTTP status, or why there was none."),
  startedMs: z.number().describe("Since the request's head was complete, like endedMs."),
  endedMs: z.number(),
});

const mirror: z.ZodType<MirrorReport> = z.object({
  rule: z.string(),
  target: z.string().describe("The model name that the copy was sent with."),
  skipped: z
    .literal(["", "same-target", "not-repeatable", "in-flight", "memory", "no-endpoint", "connections", "fault"])
    .describe("Why no copy was sent; empty if one was."),
  endpoint: z.string(),
  status: count.describe("0 before the response's head."),
  firstByteMs: z.number().nullable(),
  responseBytes: count.describe("Read and thrown away."),
  ending: z
    .literal([
      "",
      "complete",
      "client-left",
      "time-limit",
      "too-large",
      "memory",
      "stopped",
      "connect-failed",
      "connect-timeout",
      "stale",
      "reset",
      "timeout",
      "wedged",
      "gone",
      "invalid",
    ])
    .describe("Empty while it is under way, and if no copy was sent."),
});

const shadow: z.ZodType<ShadowReport> = z.object({
  profile: z.string(),
  endpoint: z.string().describe("What it would have chosen; empty if nothing."),
  refusal: z.string().describe("The code with which it would have refused; empty if it would not."),
  isSame: z.boolean(),
  differenceMs: z
    .number()
    .nullable()
    .describe("Expected milliseconds to the first token there, less those at the endpoint that was chosen."),
});

export const decisionReportSchema: z.ZodType<DecisionReport> = z.object({
  id: z.string(),
  time: z.string().describe("When it ended, in ISO 8601."),
  status: count.describe("0 if no response was sent."),
  ending: z.enum(["complete", "client-left", "broken"]),
  errorCode: z.string().describe("The router's own error; empty if it sent none."),
  durationMs: z.number(),
  firstByteMs: z.number().nullable().describe("From its last byte to the first body byte of the response; null without one."),
  requestBytes: count,
  responseBytes: count,
  cache: z
    .object({
      predictedTokens: z.number().nullable(),
      reportedTokens: z.number().nullable(),
      reportedPromptTokens: z.number().nullable(),
    })
    .nullable()
    .describe("Prompt tokens believed cached at its endpoint, and what the replica reported."),
  attempts: z.array(attempt).describe("Every try at an endpoint, in order."),
  mirrors: z.array(mirror).describe("Its copies for mirrors."),
  shadow: shadow.nullable().describe("What the shadow profile would have done; null if it was not asked."),
  ...choice,
});

export const dryRunReportSchema: z.ZodType<DryRunReport> = z.object({
  isDryRun: z.literal(true),
  time: z.string().describe("When the facts were as they were for this decision, in ISO 8601."),
  path: z.string(),
  requestBytes: count,
  notes: z.array(z.string()).describe("What to know of these numbers, for people."),
  ...choice,
});
