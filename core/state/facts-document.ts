import type { Endpoint } from "../contract/endpoint.ts";
import type { AdapterFacts, LoadView, UnlistedName } from "../contract/load-view.ts";
import { nameSet } from "../contract/name-set.ts";
import { type Facts, factsOf } from "./facts.ts";

/**
 * Facts and load at one moment as plain JSON, so that another process can repeat a decision. It holds no prompt and no key.
 * Times are on the clock of the router that wrote it.
 */
export interface FactsDocument {
  readonly version: 2;
  readonly nowMs: number;
  readonly adapterLoadMs: number;
  readonly endpoints: readonly EndpointDocument[];
}

interface EndpointDocument extends Omit<Endpoint, "models"> {
  readonly models: readonly string[];
  readonly isPaused: boolean;
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

/** `targets` are the names that replicas may load: for a decision about another name, what its refusals taught is lost. */
export function writeFacts({ endpoints }: Facts, load: LoadView, targets: Iterable<string> = []): FactsDocument {
  return {
    version: 2,
    nowMs: load.nowMs,
    adapterLoadMs: load.adapterLoadMs,
    endpoints: endpoints.map((endpoint) => writeEndpoint(endpoint, load, targets)),
  };
}

/** Turns a document into the arguments of `decide`. */
export function readFacts({ endpoints, nowMs, adapterLoadMs }: FactsDocument): {
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
  const { load: _load, adapters: _adapters, isPaused: _isPaused, unlisted: _unlisted, ...endpoint } = document;
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
