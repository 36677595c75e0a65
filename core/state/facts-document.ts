import type { Endpoint } from "../contract/endpoint.ts";
import type { AdapterFacts, LoadView, UnlistedName } from "../contract/load-view.ts";
import { nameSet } from "../contract/name-set.ts";
import { type Facts, factsOf } from "./facts.ts";
import type { PartTokens } from "./part-scale.ts";
import type { SavedState } from "./saved-state.ts";

/** Grows with each change of the shape. */
export const FACTS_VERSION = 3;

/**
 * Facts and load at one moment as plain JSON, so that another process can repeat a decision. It holds no prompt, no header and no
 * key, and so not what the prefix index knows. Times in `Ms` are on the clock of the router that wrote it.
 */
export interface FactsDocument {
  readonly version: typeof FACTS_VERSION;
  /** In ISO 8601. */
  readonly savedAt: string;
  readonly nowMs: number;
  /** Reported / estimated length of prompts, by API. */
  readonly tokenFactors: Readonly<Record<string, number>>;
  /** Tokens of images, and of each KiB of other parts that are not text, by target. */
  readonly partTokens?: PartTokens | undefined;
  /** What built-in plugins of the decision keep, such as the turns of round-robin. */
  readonly kept: readonly SavedState[];
  /** Plugins of the decision that keep something which is not in this document, by their names in the config. */
  readonly lost: readonly string[];
  readonly adapterLoadMs: number;
  readonly endpoints: readonly EndpointDocument[];
}

export interface EndpointDocument extends Omit<Endpoint, "models"> {
  readonly models: readonly string[];
  readonly isPaused: boolean;
  readonly isRateKnown: boolean;
  readonly load: { readonly [Name in NumberName]: number | null };
  readonly adapters: AdaptersDocument | null;
  /** Names that it does not list and that something is known of. */
  readonly unlisted: Readonly<Record<string, UnlistedName>>;
}

interface AdaptersDocument {
  readonly names: readonly string[] | null;
  readonly use: { readonly running: readonly string[]; readonly waiting: readonly string[]; readonly max: number } | null;
}

const NUMBERS = [
  "inFlight",
  "prefillTokens",
  "remainingPrefill",
  "waitingPrompts",
  "prefillRate",
  "waiting",
  "running",
  "kvUsage",
  "scrapedAtMs",
  "freshness",
] as const satisfies readonly (keyof LoadView)[];

type NumberName = (typeof NUMBERS)[number];

interface FactsExtras extends Pick<FactsDocument, "savedAt" | "tokenFactors" | "partTokens" | "kept" | "lost"> {
  /** The names that replicas may load: for a decision about another name, what its refusals taught is lost. */
  readonly targets: Iterable<string>;
}

export function writeFacts({ endpoints }: Facts, load: LoadView, { targets, ...extras }: FactsExtras): FactsDocument {
  return {
    version: FACTS_VERSION,
    ...extras,
    nowMs: load.nowMs,
    adapterLoadMs: load.adapterLoadMs,
    endpoints: endpoints.map((endpoint) => writeEndpoint(endpoint, load, targets)),
  };
}

/** Turns a document into the arguments of `decide`. */
export function readFacts({ endpoints, nowMs, adapterLoadMs }: Pick<FactsDocument, "endpoints" | "nowMs" | "adapterLoadMs">): {
  readonly facts: Facts;
  readonly load: LoadView;
} {
  const facts = factsOf(endpoints.map(readEndpoint));
  const bySlot = new Map(endpoints.map((document) => [document.slot, document]));
  const adapters = new Map(endpoints.map((document) => [document.slot, readAdapters(document.adapters)]));
  const unlisted = new Map(endpoints.map((document) => [document.slot, new Map(Object.entries(document.unlisted))]));
  // JSON has no NaN: null stands for an unknown number.
  const read = (name: NumberName) => (slot: number) => bySlot.get(slot)?.load[name] ?? Number.NaN;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, read(name)])) as Pick<LoadView, NumberName>;
  return {
    facts,
    load: {
      nowMs,
      adapterLoadMs,
      ...numbers,
      isRateKnown: (slot) => bySlot.get(slot)?.isRateKnown ?? false,
      isPaused: (slot) => bySlot.get(slot)?.isPaused ?? false,
      adapters: (slot) => adapters.get(slot),
      unlisted: (slot, name) => unlisted.get(slot)?.get(name),
    },
  };
}

function writeEndpoint(endpoint: Endpoint, load: LoadView, targets: Iterable<string>): EndpointDocument {
  const { slot, models } = endpoint;
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, finiteOrNull(load[name](slot))]));
  return {
    ...endpoint,
    models: [...models],
    isPaused: load.isPaused(slot),
    isRateKnown: load.isRateKnown(slot),
    load: numbers as EndpointDocument["load"],
    adapters: writeAdapters(load.adapters(slot)),
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
    adapters: _adapters,
    isPaused: _isPaused,
    isRateKnown: _isRateKnown,
    unlisted: _unlisted,
    ...endpoint
  } = document;
  return Object.freeze({ ...endpoint, models: nameSet(endpoint.models) });
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function writeAdapters(adapters: AdapterFacts | undefined): AdaptersDocument | null {
  if (adapters === undefined) return null;
  const { names, use } = adapters;
  return {
    names: names === undefined ? null : [...names],
    use: use === undefined ? null : { running: [...use.running], waiting: [...use.waiting], max: use.max },
  };
}

function readAdapters(document: AdaptersDocument | null): AdapterFacts | undefined {
  if (document === null) return undefined;
  const { names, use } = document;
  return {
    names: names === null ? undefined : new Set(names),
    use: use === null ? undefined : { running: new Set(use.running), waiting: new Set(use.waiting), max: use.max },
  };
}
