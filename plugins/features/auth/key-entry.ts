import { instanceName, whole } from "../../../config/schema/values.ts";
import { lineOfText, z } from "../../../core/contract/options.ts";

const MOST = 1_000_000_000;
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const WANTED_DATE = "a date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z";

const limits = z.strictObject({
  requestsPerMinute: whole(1, MOST).describe("Requests in a minute; those beyond it get 429.").optional(),
  tokensPerMinute: whole(1, MOST)
    .describe("Tokens in a minute, prompts and output together; requests beyond it get 429.")
    .optional(),
  concurrency: whole(1, MOST).describe("Requests under way at once; those beyond it get 429.").optional(),
});

/** One client's key, inline or in the keys file. */
export const keyEntry = z.strictObject({
  name: instanceName.describe("Who has the key, for the log, the metrics and the limits."),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, "the key's SHA-256 in 64 hex digits, as signalbox key new prints it; never the key itself")
    .toLowerCase()
    .describe("The SHA-256 of the key, in 64 hex digits. signalbox key new makes both."),
  models: z
    .array(lineOfText)
    .min(1, "at least one model, or no models at all for every one")
    .describe("The models that it may ask for. Default all.")
    .optional(),
  tenant: instanceName.describe("Whose key it is. Keys of a tenant share prompts in caches. Default: its name.").optional(),
  priority: whole(-1000, 1000).describe("Requests of a higher one go first where some wait. Default 0.").optional(),
  expires: z
    .string()
    .regex(DATE, WANTED_DATE)
    .refine((text) => !Number.isNaN(Date.parse(text)), WANTED_DATE)
    .describe("From this day (00:00 UTC) or this time on, the key is refused. Default never.")
    .optional(),
  limits: limits.describe("What it may use. Counted in this process alone.").optional(),
});

export type KeyEntry = z.infer<typeof keyEntry>;

/** As the plugin takes it. */
export function keyParameters({ expires, ...key }: KeyEntry) {
  return expires === undefined ? key : { ...key, expiresMs: Date.parse(expires) };
}
