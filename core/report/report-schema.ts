import { MIRROR_ENDINGS, MIRROR_SKIPS } from "../contract/mirror.ts";
import { listOf, z } from "../contract/options.ts";
import { ATTEMPT_FAILURES, type AttemptFailure } from "../contract/outcome.ts";

// The shape of reports for programs: what --json prints and the admin API sends. A key is never removed or given another meaning;
// keys may be added. null is unknown.

const count = z.number().min(0);
const names = listOf(z.string());

const candidate = z.object({
  endpoint: z.string(),
  cachedTokens: count.nullable().describe("Tokens of this prompt that were believed cached there; null if unknown."),
  uncachedTokens: count.nullable().describe("Tokens of this prompt that it would have to process; null if unknown."),
  waitingTokens: count
    .nullable()
    .describe("Tokens of other prompts that were sent there and were still to be processed; null beyond the first 16."),
  firstTokenMs: count.nullable().describe("Expected time to the first token, in milliseconds; null before any was measured."),
  total: z.number().describe("sum(weight x confidence x score) / sum(weight x confidence); higher is better."),
  scores: listOf(z.number().nullable()).describe("One for each scorer, in [0, 1]; null = no opinion."),
  confidences: listOf(z.number()).describe("One for each scorer: its weight was multiplied by it."),
});

const refusal = z.object({ code: z.string(), message: z.string() });
const weighted = z.object({ name: z.string(), weight: z.number() });

const dropped = z.object({
  filter: z.string(),
  endpoints: names,
  reasons: z.record(z.string(), z.string()).describe("By endpoint, for people."),
});

const asked = z.object({
  api: z.string().describe('Type of the parser that serves the path, such as "chat-completions".'),
  isStream: z.boolean(),
  promptTokens: count.describe("Estimated, and corrected by what replicas report."),
});

const leg = z.object({
  profile: z.string(),
  why: z.string().describe("The reason in a few sentences, for people: its words may change."),
  dropped: listOf(dropped),
  picker: z.string().describe("Its name in the config."),
  scorers: listOf(weighted).describe("Those that had an opinion."),
  candidates: listOf(candidate).describe("In the order in which they would be tried."),
});

const pairing = z.object({
  isPaired: z.boolean().describe("Whether its prompt goes to an endpoint of its own."),
  why: z.string().describe("For people."),
  uncachedTokens: count.describe("Prompt tokens that are not believed cached where the answer is generated."),
  pairMs: z
    .number()
    .nullable()
    .describe("Expected time to the first token with a pair, in milliseconds; null if it was not weighed."),
  aloneMs: z.number().nullable().describe("The same with one endpoint."),
  heldUpMs: z.number().nullable().describe("By how much one endpoint would hold up the tokens of others, in milliseconds."),
});

const choice = z.object({
  ...asked.shape,
  model: z.string().describe("The name that the client asked for."),
  target: z.string().describe("The name that is sent to the replica."),
  rule: z.string().describe('The rewrite rule that drew the target; "" if none did.'),
  draw: z
    .object({
      by: z.enum(["share", "header"]).describe("share: by the weights, in turn; header: by the value of a header."),
      header: z.string().describe('Its name; "" for share.'),
      targets: listOf(weighted).describe("Those that took part."),
    })
    .nullable()
    .describe("How the rule drew the target; null if no rule did."),
  poolSize: count,
  ...leg.shape,
  pairing: pairing.nullable().default(null).describe("Whether a pair of endpoints serves it; null where the config has none."),
  prefillLeg: leg
    .nullable()
    .default(null)
    .describe("Where its prompt is processed, if that is not where its answer is generated."),
  refusal: refusal.nullable().describe("Null unless no endpoint may serve it."),
  faults: listOf(z.object({ plugin: z.string(), message: z.string() })).describe("Plugins that broke their contract."),
});

const attempt = z.object({
  endpoint: z.string(),
  result: z
    .union([z.int(), z.literal(Object.keys(ATTEMPT_FAILURES) as AttemptFailure[])])
    .describe("The HTTP status, or why there was none."),
  startedMs: z.number().describe("Since the request's head was complete, like endedMs."),
  endedMs: z.number(),
});

const prefill = z.object({
  transfer: z.string().describe("How the cache moves."),
  endpoint: z.string(),
  end: z.enum(["", "transferred", "alone"]).describe("alone: the answer was generated without it."),
  cause: z.string().describe("Why it was generated without it."),
  tookMs: z.number().nullable().describe("From its first try to its response."),
  transferMs: z.number().nullable().describe("From then to the first token of the answer, the transfer included."),
  expectedTransferMs: z.number().nullable(),
  cachedTokens: z.number().nullable().describe("Tokens of the prompt that its endpoint had cached, as it reports."),
  attempts: listOf(attempt).describe("Every try at an endpoint for the prompt, in order."),
});

const mirror = z.object({
  rule: z.string(),
  target: z.string().describe("The model name that the copy was sent with."),
  skipped: z.literal(["", ...MIRROR_SKIPS]).describe("Why no copy was sent; empty if one was."),
  endpoint: z.string(),
  status: count.describe("0 before the response's head."),
  firstByteMs: z.number().nullable(),
  responseBytes: count.describe("Read and thrown away."),
  ending: z.literal(["", ...MIRROR_ENDINGS]).describe("Empty while it is under way, and if no copy was sent."),
});

const wait = z.object({
  tenant: z.string().describe("As the config's headers say; empty if none does."),
  priority: z.number(),
  tokens: count.describe("What it was expected to take: of its prompt and of its response."),
  position: count.describe("Its place when it came, among those of its priority and above; 1 is the first."),
  reason: z.string().describe("Why it had to wait, for people."),
  end: z.enum(["", "admitted", "timed-out", "shed", "left"]),
  waitedMs: count.nullable(),
});

const session = z.object({
  name: z.string(),
  source: z.string().describe('Where its id was found: a header, a key of the body, or "prompt".'),
  turn: count.describe("1 for the first one that this router has seen."),
  pausedMs: z.number().nullable().describe("From the end of the turn before to this one's coming; null for the first."),
  endpoint: z.string().describe("The endpoint that served the turn before; empty for none."),
});

const shadow = z.object({
  profile: z.string(),
  endpoint: z.string().describe("What it would have chosen; empty if nothing."),
  refusal: z.string().describe("The code with which it would have refused; empty if it would not."),
  isSame: z.boolean(),
  differenceMs: z
    .number()
    .nullable()
    .describe("Expected milliseconds to the first token there, less those at the endpoint that was chosen."),
});

export const decisionReportSchema = z.object({
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
  principal: z
    .object({ name: z.string(), tenant: z.string() })
    .nullable()
    .describe("Who asked, by its key; null where nobody knows."),
  pool: z.string().optional().describe("The pool that it was in last; absent where there is only one."),
  session: session.nullable().default(null).describe("Of which session it is a turn; null if it is of none."),
  wait: wait.nullable().describe("How it waited for room in the pool; null if it did not."),
  attempts: listOf(attempt).describe("Every try at an endpoint, in order."),
  prefill: prefill.nullable().default(null).describe("What became of its prompt on an endpoint of its own; null if it had none."),
  mirrors: listOf(mirror).describe("Its copies for mirrors."),
  shadow: shadow.nullable().describe("What the shadow profile would have done; null if it was not asked."),
  notes: names.default([]).describe("What the router's features say of it, for people."),
  ...choice.shape,
});

export const dryRunReportSchema = z.object({
  isDryRun: z.literal(true),
  time: z.string().describe("When the facts were as they were for this decision, in ISO 8601."),
  path: z.string(),
  requestBytes: count,
  pool: z.string().optional().describe("The pool that it would go to; absent where there is only one."),
  notes: names.describe("What to know of these numbers, for people."),
  ...choice.shape,
});

/** Why no endpoint may serve a request. */
export type Refusal = z.infer<typeof refusal>;
export type CandidateReport = z.infer<typeof candidate>;
export type LegReport = z.infer<typeof leg>;
/** What was decided about a request, and why. */
export type ChoiceReport = z.infer<typeof choice>;
/** What of it is known before the decision. */
export type AskedReport = z.infer<typeof asked>;
export type MirrorReport = z.infer<typeof mirror>;
export type ShadowReport = z.infer<typeof shadow>;
/** Why a request went to its endpoint, and how it ended. */
export type DecisionReport = z.infer<typeof decisionReportSchema>;
/** What would be decided about a request now. */
export type DryRunReport = z.infer<typeof dryRunReportSchema>;
