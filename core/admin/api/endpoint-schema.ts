import { z } from "../../contract/options.ts";
import type { EndpointStatus } from "../status.ts";

const measured = z.number().nullable();

const intent = z
  .object({
    kind: z.enum(["cordon", "drain"]),
    reason: z.string(),
    since: z.string().describe("ISO 8601."),
    until: z.string().nullable().describe("ISO 8601; null if only the operator ends it."),
    isEmpty: z.boolean().describe("No request is under way there, and no session may send another one."),
  })
  .nullable();

/** An endpoint as the API and the status show it. */
export const endpointSchema = z.object({
  name: z.string(),
  url: z.string(),
  phase: z.enum(["starting", "ready", "not-ready", "draining", "cordoned", "ejected"]),
  isAvailable: z.boolean().describe("Whether it gets new requests."),
  ejected: z.string().describe("Why it is ejected, since when, and when it may return; empty while it is not."),
  intent: intent.describe("What the operator wants of it; null while it may serve."),
  ejections: z.number(),
  share: z.number().describe("Of an equal share of the traffic, how much it gets, in (0, 1]."),
  failure: z.string().describe("Why the last probe failed; empty after a success."),
  labels: z.record(z.string(), z.string()),
  models: z.array(z.string()),
  inFlight: z.number(),
  prefillTokens: z.number(),
  connections: z.number(),
  waiting: measured,
  running: measured,
  kvUsage: measured,
  scrapedAgoMs: measured,
  freshness: z.number(),
}) satisfies z.ZodType<EndpointStatus>;
