import type { Room, Waiting } from "./admission.ts";
import { systemClock } from "./clock.ts";
import type { Endpoint } from "./endpoint.ts";
import { type LoadView, NO_ATTRIBUTES } from "./load-view.ts";
import { silentLog } from "./log.ts";
import { nameSet } from "./name-set.ts";
import type { OptionSchema, SchemaIssue } from "./options.ts";
import type { Definition, PluginHost, PluginKind, PluginKinds } from "./plugin.ts";
import { NO_PREFIX, type PrefixMatch } from "./prefix-match.ts";
import type { HeaderView, InferenceRequest } from "./request.ts";
import { secretOf } from "./secret.ts";

// For plugin authors: test data for everything that a plugin gets, so that it can be tested without a server. See
// examples/custom-scorer.test.ts.

/** An available endpoint, named "e0", "e1" … after its slot, that serves "base". With a `phase` it is not available. */
export function makeEndpoint(
  slot: number,
  overrides: Partial<Omit<Endpoint, "models">> & { models?: Iterable<string> } = {},
): Endpoint {
  const port = 8000 + slot;
  return {
    name: `e${slot}`,
    slot,
    generation: 0,
    url: {
      href: `http://127.0.0.1:${port}`,
      hostname: "127.0.0.1",
      port,
      isTls: false,
      hostHeader: `127.0.0.1:${port}`,
      basePath: "",
    },
    labels: {},
    phase: "ready",
    isAvailable: overrides.phase === undefined,
    stillTakes: "nothing",
    isOnTrial: false,
    share: 1,
    intent: "serve",
    ejection: undefined,
    ...overrides,
    models: nameSet(overrides.models ?? ["base"]),
  };
}

/** Endpoints in the slots 0 … count - 1. */
export function makeEndpoints(count: number): readonly Endpoint[] {
  return Array.from({ length: count }, (_, slot) => makeEndpoint(slot));
}

/** A chat request for "base" with a prompt that no endpoint holds. */
export function makeRequest(overrides: Partial<InferenceRequest> = {}): InferenceRequest {
  return {
    model: "base",
    modelSpan: [9, 15],
    isStream: false,
    promptSpans: [],
    promptTokens: 0,
    promptParts: [],
    parsedTokens: overrides.promptTokens ?? 0,
    maxOutputTokens: 0,
    cacheSalt: "",
    isRepeatable: true,
    isFollowUp: false,
    id: "request-1",
    api: "chat-completions",
    path: "/v1/chat/completions",
    dialect: "openai",
    headers: makeHeaders({}),
    body: new Uint8Array(0),
    target: overrides.model ?? "base",
    rule: "",
    draw: undefined,
    onDemand: "never",
    prefix: NO_PREFIX,
    ...overrides,
  };
}

/** Headers by their lower-case names. */
export function makeHeaders(headers: Readonly<Record<string, string>>): HeaderView {
  return { get: (name) => headers[name] };
}

/** A prompt of equal blocks; the endpoint in slot n holds `matched[n]` of them. */
export function makePrefix(blocks: number, tokensPerBlock: number, matched: readonly number[]): PrefixMatch {
  const matchedBlocks = (slot: number) => matched[slot] ?? 0;
  return {
    blocks,
    matchedBlocks,
    matchedTokens: (slot) => matchedBlocks(slot) * tokensPerBlock,
    matchedFraction: (slot) => (blocks === 0 ? 0 : matchedBlocks(slot) / blocks),
  };
}

/** A number of each slot: an array by slot, or a function of it. */
type BySlot<Value> = ArrayLike<Value> | ((slot: number) => Value);

/** What reads a number of one slot. */
export type LoadMethod = Exclude<keyof LoadView, "nowMs" | "adapterLoadMs" | "unlisted" | "adapterMs">;

/** Numbers of each slot, and those of the whole pool. */
export type LoadNumbers = {
  readonly [Name in keyof LoadView]?: Name extends LoadMethod ? BySlot<ReturnType<LoadView[Name]>> : LoadView[Name];
};

/**
 * Load numbers of the slots 0 … slots - 1. By default the numbers that the router counts are 0, and scraped ones are unknown.
 * Reading any other slot throws a RangeError.
 *
 * @example
 * const scores = createPlugin(definition).score(makeRequest(), makeEndpoints(2), makeLoad(2, { inFlight: [3, 0] }));
 */
export function makeLoad(slots: number, numbers: LoadNumbers = {}): LoadView {
  const read = <Name extends LoadMethod>(name: Name, otherwise: ReturnType<LoadView[Name]>) => {
    const given = numbers[name] as BySlot<typeof otherwise> | undefined;
    return (slot: number) => {
      if (!(slot >= 0 && slot < slots)) throw new RangeError(`There is no slot ${slot}: read by endpoint.slot`);
      return (typeof given === "function" ? given(slot) : (given?.[slot] ?? otherwise)) as typeof otherwise;
    };
  };
  const prefillTokens = read("prefillTokens", 0);
  return {
    nowMs: numbers.nowMs ?? 0,
    inFlight: read("inFlight", 0),
    prefillTokens,
    remainingPrefill: numbers.remainingPrefill === undefined ? prefillTokens : read("remainingPrefill", 0),
    waitingPrompts: read("waitingPrompts", 0),
    prefillRate: read("prefillRate", 8),
    isRateKnown: read("isRateKnown", true),
    waiting: read("waiting", Number.NaN),
    running: read("running", Number.NaN),
    kvUsage: read("kvUsage", Number.NaN),
    attributes: read("attributes", NO_ATTRIBUTES),
    scrapedAtMs: read("scrapedAtMs", Number.NaN),
    freshness: read("freshness", 1),
    isPaused: read("isPaused", false),
    isFull: read("isFull", false),
    adapters: read("adapters", undefined),
    unlisted: numbers.unlisted ?? (() => undefined),
    adapterMs: numbers.adapterMs ?? (() => 0),
    adapterLoadMs: numbers.adapterLoadMs ?? 2_000,
  };
}

/** A request that waits: of nobody in particular, for "base", since 0 and for a minute at most. */
export function makeWaiting(overrides: Partial<Waiting> = {}): Waiting {
  return {
    id: "request-1",
    model: "base",
    tenant: "",
    priority: 0,
    tokens: 1_000,
    bytes: 4_000,
    headers: makeHeaders({}),
    sinceMs: 0,
    untilMs: 60_000,
    ...overrides,
  };
}

/** Room for every request, or for those that `isFor` names. */
export function makeRoom(overrides: Partial<Room> = {}): Room {
  return { nowMs: 0, isFor: () => true, ...overrides };
}

/** A repeatable replacement for Math.random (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A host that does nothing, except what `overrides` give it. */
export function makeHost(overrides: Partial<PluginHost> = {}): PluginHost {
  return {
    name: "under-test",
    folder: ".",
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    output: { print: () => {}, isTerminal: false },
    signal: new AbortController().signal,
    keep: (_version, make) => make(),
    secret: (from) => secretOf("secret", from),
    plugins: () => [],
    usePrefixIndex: () => {},
    ...overrides,
  };
}

/** Makes a plugin, after checking its parameters as the config loader does. Throws TypeError for wrong parameters. */
export function createPlugin<Kind extends PluginKind, Options>(
  definition: Definition<Kind, Options>,
  parameters: unknown = {},
  host: PluginHost = makeHost(),
): PluginKinds[Kind] {
  const result = check(definition.options, parameters);
  if (result.issues !== undefined) throw new TypeError(result.issues.map((issue) => issue.message).join("; "));
  return definition.create(result.value, host);
}

/** The problems of the parameters; empty if they are valid. */
export function issuesOf(definition: Definition, parameters: unknown): readonly SchemaIssue[] {
  return check(definition.options, parameters).issues ?? [];
}

function check<Options>(schema: OptionSchema<Options>, value: unknown) {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) throw new TypeError("The options schema must not be asynchronous");
  return result;
}
