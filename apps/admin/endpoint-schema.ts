import { z } from "../../core/contract/options.ts";
import { endpointFigures } from "./figures/request-figures.ts";

const measured = z.number().nullable();

const intent = z.object({
  kind: z.enum(["cordon", "drain"]),
  // The operator's own words; "" for none.
  reason: z.string(),
  by: z.string().describe("Whose token asked for it, and from which address; empty where neither is known."),
  since: z.string().describe("ISO 8601."),
  until: z.string().nullable().describe("ISO 8601; null if only the operator ends it."),
  isEmpty: z.boolean().describe("No request is under way there, and no session may send another one."),
});

/** An endpoint as the API and the status show it. */
export const endpointSchema = z.object({
  name: z.string(),
  url: z.string(),
  pool: z.string().describe("The pool that it is in; absent where there is only one.").exactOptional(),
  phase: z.enum(["starting", "ready", "not-ready", "asleep", "draining", "cordoned", "ejected"]),
  since: z.string().nullable().describe("When it came into this phase, in ISO 8601."),
  why: z.string().describe("Why it is in this phase, in words; empty where there is nothing to explain."),
  state: z.string().describe("Its phase and why, as tables show it: the cause comes first."),
  isAvailable: z.boolean().describe("Whether it gets new requests."),
  ejected: z.string().describe("Why it is ejected, since when, and when it may return; empty while it is not."),
  intent: intent.nullable().describe("What the operator wants of it; null while it may serve."),
  // So far.
  ejections: z.number(),
  share: z.number().describe("Of an equal share of the traffic, how much it gets, in (0, 1]."),
  failure: z.string().describe("Why the last probe failed; empty after a success."),
  lastCheckAgoMs: measured.describe("How long ago the last startup or readiness probe ended; null before the first."),
  nextCheckInMs: measured.describe("When the next one begins; 0 while one is under way, null if none is planned."),
  labels: z.record(z.string(), z.string()),
  models: z.array(z.string()),
  inFlight: z.number(),
  prefillTokens: z.number(),
  connections: z.number(),
  // From the replica's metrics; null if unknown. `kvUsage` is in [0, 1].
  waiting: measured,
  running: measured,
  kvUsage: measured,
  attributes: z.record(z.string(), z.number()).describe("Other numbers that sources read, by name, such as GPUUtilization."),
  scrapedAgoMs: measured,
  // The confidence that decisions give to those values, in [0, 1].
  freshness: z.number(),
  figures: endpointFigures.describe("What requests met there in the last minutes."),
});

export type EndpointStatus = z.infer<typeof endpointSchema>;
export type IntentStatus = z.infer<typeof intent>;
