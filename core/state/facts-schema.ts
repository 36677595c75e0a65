import { z } from "../contract/options.ts";
import { type EndpointDocument, FACTS_VERSION, type FactsDocument } from "./facts-document.ts";
import { MAX_SLOTS } from "./load.ts";
import type { SavedState } from "./saved-state.ts";

const unknown = z.number().nullable();
const names = z.array(z.string());
const leftMs = z.number();

/** Loose: a key more is no reason to refuse a file, since what is read is checked. */
const endpoint = z.looseObject({
  name: z.string(),
  slot: z
    .int()
    .min(0)
    .max(MAX_SLOTS - 1),
  generation: z.int(),
  url: z.object({
    href: z.string(),
    hostname: z.string(),
    port: z.int(),
    isTls: z.boolean(),
    hostHeader: z.string(),
    basePath: z.string(),
  }),
  labels: z.record(z.string(), z.string()),
  phase: z.enum(["starting", "ready", "not-ready", "draining", "cordoned", "ejected"]),
  isAvailable: z.boolean(),
  stillTakes: z.enum(["nothing", "sessions", "unserved"]),
  isOnTrial: z.boolean(),
  share: z.number(),
  intent: z.enum(["serve", "cordon", "drain"]),
  ejection: z.object({ reason: z.string(), sinceMs: z.number(), untilMs: z.number() }).optional(),
  models: names,
  isPaused: z.boolean(),
  isRateKnown: z.boolean(),
  load: z
    .object({
      inFlight: unknown,
      prefillTokens: unknown,
      remainingPrefill: unknown,
      waitingPrompts: unknown,
      prefillRate: unknown,
      waiting: unknown,
      running: unknown,
      kvUsage: unknown,
      scrapedAtMs: unknown,
      freshness: unknown,
    })
    .describe("null: unknown. Prompt lengths in tokens, prefillRate in tokens per millisecond, kvUsage in [0, 1]."),
  adapters: z
    .object({
      names: names.nullable(),
      use: z.object({ running: names, waiting: names, max: z.number() }).nullable(),
    })
    .nullable(),
  unlisted: z.record(z.string(), z.object({ standing: z.enum(["loading", "served", "refused"]), leftMs })),
});

const areDistinct = (values: readonly unknown[]) => new Set(values).size === values.length;

/** Whether the value can be put into its container. */
function fits({ as, value }: Pick<SavedState, "as"> & { readonly value?: unknown }): boolean {
  if (as === "json") return true;
  return Array.isArray(value) && (as === "set" || value.every((entry) => Array.isArray(entry)));
}

/** The shape of a FactsDocument, as the admin API describes it and as a file of it is checked. */
export const factsSchema = z.object({
  version: z.literal(FACTS_VERSION).describe("Grows with each change of the shape."),
  savedAt: z.string().describe("In ISO 8601."),
  nowMs: z.number().describe("The router's clock, by which times in Ms are written."),
  adapterLoadMs: z.number(),
  tokenFactors: z.record(z.string(), z.number()).describe("Reported / estimated length of prompts, by API."),
  partTokens: z
    .record(z.string(), z.partialRecord(z.enum(["image", "audio", "video", "file"]), z.number().nonnegative()))
    .optional()
    .describe("Tokens of an image, and of a KiB of another part that is not text, by target."),
  kept: z
    .array(
      z
        .object({
          type: z.string(),
          name: z.string(),
          version: z.int(),
          as: z.enum(["map", "set", "json"]),
          value: z.unknown(),
        })
        .refine(fits, { error: "the value does not fit its container" }),
    )
    .describe("What built-in plugins keep, such as the turns of round-robin."),
  lost: names.describe("Plugins that keep something which is not in this document."),
  endpoints: z
    .array(endpoint)
    .refine((all) => areDistinct(all.map(({ slot }) => slot)), "two of them have the same slot")
    .refine((all) => areDistinct(all.map(({ name }) => name)), "two of them have the same name"),
});

/** Checks what a file held. Throws an Error that says what to do for a document of another version or shape. */
export function checkedFacts(value: unknown): FactsDocument {
  const version = typeof value === "object" && value !== null && "version" in value ? value.version : undefined;
  if (version === undefined) throw new Error("This is no snapshot of facts: make one with signalbox facts > FILE.");
  if (version !== FACTS_VERSION)
    throw new Error(
      `The snapshot has version ${String(version)}, and this program reads version ${FACTS_VERSION}: save it again, or read it with the program that saved it.`,
    );
  const { success, data, error } = factsSchema.safeParse(value);
  if (!success) {
    const { path, message } = error.issues[0]!;
    throw new Error(`The snapshot is damaged at ${path.join(".")}: ${message}; save it again.`);
  }
  return { ...data, endpoints: data.endpoints as unknown as readonly EndpointDocument[], kept: data.kept.map(withValue) };
}

/** A key of an unknown value is optional for the schema. */
const withValue = (kept: z.infer<typeof factsSchema>["kept"][number]) => ({ ...kept, value: kept.value });
