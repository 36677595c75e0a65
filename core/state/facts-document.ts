import type { Endpoint } from "../contract/endpoint.ts";
import { type AdapterFacts, type LoadView, NO_ATTRIBUTES } from "../contract/load-view.ts";
import { nameSet } from "../contract/name-set.ts";
import { listOf, z } from "../contract/options.ts";
import { type Facts, factsOf } from "./facts.ts";
import { MAX_SLOTS } from "./load.ts";

/** Grows with each change of the shape. */
export const FACTS_VERSION = 3;

const names = listOf(z.string());
const unknown = z.number().nullable();

const loadNumbers = z.object({
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
});

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
  phase: z.enum(["starting", "ready", "not-ready", "asleep", "draining", "cordoned", "ejected"]),
  isAvailable: z.boolean(),
  stillTakes: z.enum(["nothing", "sessions", "unserved"]),
  isOnTrial: z.boolean(),
  share: z.number(),
  intent: z.enum(["serve", "cordon", "drain"]),
  ejection: z.object({ reason: z.string(), sinceMs: z.number(), untilMs: z.number() }).optional(),
  models: names,
  modelCards: z
    .record(
      z.string(),
      z.object({ contextTokens: z.int().optional(), root: z.string().optional(), parent: z.string().nullable().optional() }),
    )
    .optional()
    .describe("What the replica's list says of its models; contextTokens: of a prompt and its answer together."),
  attributes: z.record(z.string(), z.number()).optional().describe("Other scraped numbers, by the names that sources give them."),
  isPaused: z.boolean(),
  isFull: z.boolean().optional(),
  isRateKnown: z.boolean(),
  load: loadNumbers.describe(
    "null: unknown. Prompt lengths in tokens, prefillRate in tokens per millisecond, kvUsage in [0, 1].",
  ),
  adapters: z
    .object({
      names: names.nullable(),
      use: z.object({ running: names, waiting: names, max: z.number() }).nullable(),
    })
    .nullable(),
  adapterMs: z
    .record(z.string(), z.number())
    .optional()
    .describe("What loading each adapter takes that is not believed to be loaded."),
  unlisted: z.record(z.string(), z.object({ standing: z.enum(["loading", "served", "refused"]), leftMs: z.number() })),
});

/** State written as JSON, with the container that it is in. */
const savedValue = z.object({ as: z.enum(["map", "set", "json"]), value: z.unknown() });

/** The state that a plugin keeps. */
const keptState = z
  .object({ type: z.string(), name: z.string(), version: z.int(), ...savedValue.shape })
  .refine(fits, { error: "the value does not fit its container" });

/** Facts and load at one moment. */
const poolDocument = z.object({
  nowMs: z.number().describe("The router's clock, by which times in Ms are written."),
  adapterLoadMs: z.number(),
  endpoints: z
    .array(endpoint)
    .refine((all) => areDistinct(all.map(({ slot }) => slot)), "two of them have the same slot")
    .refine((all) => areDistinct(all.map(({ name }) => name)), "two of them have the same name"),
});

const poolFacts = z.object({
  version: z.literal(FACTS_VERSION).describe("Grows with each change of the shape."),
  savedAt: z.string().describe("In ISO 8601."),
  tokenFactors: z.record(z.string(), z.number()).describe("Reported / estimated length of prompts, by API."),
  partTokens: z
    .record(z.string(), z.partialRecord(z.enum(["image", "audio", "video", "file"]), z.number().nonnegative()))
    .optional()
    .describe("Tokens of an image, and of a KiB of another part that is not text, by target."),
  kept: listOf(keptState).describe("What built-in plugins keep, such as the turns of round-robin."),
  lost: names.describe("Plugins that keep something which is not in this document."),
  ...poolDocument.shape,
});

/**
 * Facts and load at one moment as plain JSON, so that another process can repeat a decision, as the admin API describes it and as a
 * file of it is checked. It holds no prompt, no header and no key, and so not what the prefix index knows. Times in `Ms` are on the
 * clock of the router that wrote it.
 */
export const factsSchema = poolFacts.extend({
  pools: z.record(z.string(), poolFacts).optional().describe("The same of the pools beside the router's own, by their names."),
});

export type FactsDocument = z.infer<typeof factsSchema>;
export type PoolDocument = z.infer<typeof poolDocument>;
export type SavedState = FactsDocument["kept"][number];
export type SavedValue = z.infer<typeof savedValue>;
type EndpointDocument = FactsDocument["endpoints"][number];
type NumberName = keyof EndpointDocument["load"];

const NUMBERS = Object.keys(loadNumbers.shape) as readonly NumberName[];

/** `targets`: the names that replicas may load; for a decision about another name, what its refusals taught is lost. */
export function writePool({ endpoints }: Facts, load: LoadView, targets: Iterable<string>): PoolDocument {
  return {
    nowMs: load.nowMs,
    adapterLoadMs: load.adapterLoadMs,
    endpoints: endpoints.map((endpoint) => writeEndpoint(endpoint, load, targets)),
  };
}

/** Turns a document into the arguments of `decide`. */
export function readPool({ endpoints, nowMs, adapterLoadMs }: PoolDocument): {
  readonly facts: Facts;
  readonly load: LoadView;
} {
  const facts = factsOf(endpoints.map(readEndpoint));
  const bySlot = new Map(endpoints.map((document) => [document.slot, document]));
  const adapters = new Map(endpoints.map((document) => [document.slot, readAdapters(document.adapters)]));
  const attributes = new Map(endpoints.map((document) => [document.slot, new Map(Object.entries(document.attributes ?? {}))]));
  const unlisted = new Map(endpoints.map((document) => [document.slot, new Map(Object.entries(document.unlisted))]));
  const adapterMs = new Map(endpoints.map((document) => [document.slot, new Map(Object.entries(document.adapterMs ?? {}))]));
  // JSON has no NaN: null stands for an unknown number.
  const read = (name: NumberName) => (slot: number) => bySlot.get(slot)?.load[name] ?? Number.NaN;
  const readNumbers = Object.fromEntries(NUMBERS.map((name) => [name, read(name)])) as Record<
    NumberName,
    (slot: number) => number
  >;
  return {
    facts,
    load: {
      nowMs,
      adapterLoadMs,
      ...readNumbers,
      isRateKnown: (slot) => bySlot.get(slot)?.isRateKnown ?? false,
      isPaused: (slot) => bySlot.get(slot)?.isPaused ?? false,
      attributes: (slot) => attributes.get(slot) ?? NO_ATTRIBUTES,
      isFull: (slot) => bySlot.get(slot)?.isFull ?? false,
      adapters: (slot) => adapters.get(slot),
      unlisted: (slot, name) => unlisted.get(slot)?.get(name),
      adapterMs: (slot, name) => adapterMs.get(slot)?.get(name) ?? 0,
    },
  };
}

function writeEndpoint(endpoint: Endpoint, load: LoadView, targets: Iterable<string>): EndpointDocument {
  const { slot, models } = endpoint;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, finiteOrNull(load[name](slot))]));
  return {
    ...endpoint,
    models: [...models],
    attributes: Object.fromEntries(load.attributes(slot)),
    isPaused: load.isPaused(slot),
    isFull: load.isFull(slot),
    isRateKnown: load.isRateKnown(slot),
    load: numbers as EndpointDocument["load"],
    adapters: writeAdapters(load.adapters(slot)),
    adapterMs: Object.fromEntries(
      [...(load.adapters(slot)?.names ?? [])]
        .map((name) => [name, load.adapterMs(slot, name)] as const)
        .filter(([, ms]) => ms > 0),
    ),
    unlisted: Object.fromEntries(
      [...targets].flatMap((name) => {
        const known = load.unlisted(slot, name);
        return known === undefined ? [] : [[name, known] as const];
      }),
    ),
  };
}

function readEndpoint(document: EndpointDocument): Endpoint {
  const {
    load: _load,
    attributes: _attributes,
    adapters: _adapters,
    adapterMs: _adapterMs,
    isPaused: _paused,
    isFull: _full,
    isRateKnown: _known,
    unlisted: _unlisted,
    ...endpoint
  } = document;
  return Object.freeze({ ...endpoint, ejection: endpoint.ejection, models: nameSet(endpoint.models) });
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function writeAdapters(adapters: AdapterFacts | undefined): EndpointDocument["adapters"] {
  if (adapters === undefined) return null;
  const { names, use } = adapters;
  return {
    names: names === undefined ? null : [...names],
    use: use === undefined ? null : { running: [...use.running], waiting: [...use.waiting], max: use.max },
  };
}

function readAdapters(document: EndpointDocument["adapters"]): AdapterFacts | undefined {
  if (document === null) return undefined;
  const { names, use } = document;
  return {
    names: names === null ? undefined : new Set(names),
    use: use === null ? undefined : { running: new Set(use.running), waiting: new Set(use.waiting), max: use.max },
  };
}

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
  return data;
}

const areDistinct = (values: readonly unknown[]) => new Set(values).size === values.length;

/** Whether the value can be put into its container. */
function fits({ as, value }: SavedValue): boolean {
  if (as === "json") return true;
  return Array.isArray(value) && (as === "set" || value.every((entry) => Array.isArray(entry)));
}
