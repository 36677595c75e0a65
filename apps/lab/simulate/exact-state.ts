import type { Profile } from "../../../core/active-config.ts";
import type { Decision } from "../../../core/contract/decision.ts";
import type { LoadView } from "../../../core/contract/load-view.ts";
import type { PrefixMatch } from "../../../core/contract/prefix-match.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { plan } from "../../../core/decide/plan.ts";
import type { Slots } from "../../../core/slots.ts";
import type { Facts } from "../../../core/state/facts.ts";
import type { Prompt, TraceRequest } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

/** One request of a trace, and what the router knows when it decides. */
export interface Question {
  readonly request: InferenceRequest;
  readonly traced: TraceRequest;
  readonly facts: Facts;
  readonly slots: Slots;
  readonly profile: Profile;
  readonly load: LoadView;
  readonly random: Random;
}

/** Decides a simulated request. */
export type Decider = (question: Question) => Decision;

/** Makes the decider of one simulation. `upstreams`: the replicas with their exact state, by slot, which no router has. */
export type DeciderOf = (upstreams: readonly Upstream[]) => Decider;

/** As the router does. */
export const decideAsAsked: Decider = ({ request, facts, slots, profile, load, random }) =>
  plan(slots, request, facts, profile, load, random);

/**
 * What a router estimates and an engine knows:
 * - length: tokens of the prompt
 * - cache: tokens of the prompt that the engine's cache holds
 * - queue: requests at the engine, and prompt tokens still to be computed
 * - metrics: the engine's own metrics, which a router reads from time to time
 * - speed: prompt tokens that the engine computes in a millisecond
 */
export const BELIEFS = ["length", "cache", "queue", "metrics", "speed"] as const;

export type Belief = (typeof BELIEFS)[number];

/** Nothing is divided by the speed of an engine that stands still. */
const STANDSTILL = 1e-9;

/** Decides with the engines' exact state, in place of every belief of the router. */
export function decideExactly(upstreams: readonly Upstream[]): Decider {
  const truths = new Set(BELIEFS);
  return (question) => decideAsAsked(withTruth(question, upstreams, truths));
}

/** The same question with the truth in place of these beliefs. */
export function withTruth(question: Question, upstreams: readonly Upstream[], truths: ReadonlySet<Belief>): Question {
  const { request, traced, load } = question;
  const length = { value: truths.has("length") ? traced.prompt.tokens : request.promptTokens };
  const prefix = { value: truths.has("cache") ? truePrefix(request.prefix, traced.prompt, upstreams) : request.prefix };
  return {
    ...question,
    // Not a copy: reading the body spells it out.
    request: Object.create(request, { promptTokens: length, prefix }) as InferenceRequest,
    load: trueLoad(load, upstreams, truths),
  };
}

/** What the engines' caches hold of a prompt, now. Its blocks are those of the router. */
function truePrefix(believed: PrefixMatch, prompt: Prompt, upstreams: readonly Upstream[]): PrefixMatch {
  /** By slot; undefined before the first read. */
  const held: (number | undefined)[] = [];
  const matchedTokens = (slot: number): number => {
    held[slot] ??= upstreams[slot]!.replica.cachedTokens(prompt);
    return held[slot];
  };
  const matchedFraction = (slot: number) => matchedTokens(slot) / prompt.tokens;
  return {
    blocks: believed.blocks,
    ...(believed.hashes && { hashes: believed.hashes }),
    tokensIn: (block) => believed.tokensIn?.(block) ?? 0,
    matchedTokens,
    matchedFraction,
    // A price, not a belief: which other prompts will be asked for again is in the future, and no engine knows it.
    displacedTokens: (slot, tokens) => believed.displacedTokens?.(slot, tokens) ?? 0,
    // The router's blocks end elsewhere than the engines': as many as the share of the prompt.
    matchedBlocks: (slot) => Math.floor(believed.blocks * matchedFraction(slot)),
  };
}

type Told = Exclude<
  keyof LoadView,
  "nowMs" | "adapterLoadMs" | "isPaused" | "isFull" | "attributes" | "adapters" | "unlisted" | "adapterMs"
>;

/** What a router is told of an endpoint: which belief it is, and the truth. */
const TRUTHS: Readonly<Record<Told, readonly [Belief, (upstream: Upstream, nowMs: number) => number | boolean]>> = {
  inFlight: ["queue", ({ replica }) => replica.size],
  prefillTokens: ["queue", ({ replica }) => replica.prefillTokens],
  remainingPrefill: ["queue", ({ replica }) => replica.prefillLeft],
  waitingPrompts: ["queue", ({ replica }) => replica.unanswered],
  prefillRate: ["speed", ({ tokensPerMs }) => Math.max(STANDSTILL, tokensPerMs)],
  isRateKnown: ["speed", () => true],
  waiting: ["metrics", ({ replica }) => replica.untouched],
  running: ["metrics", ({ replica }) => replica.running],
  kvUsage: ["metrics", ({ replica }) => replica.cache.usage],
  scrapedAtMs: ["metrics", (_, nowMs) => nowMs],
  freshness: ["metrics", () => 1],
};

/** The router's view of its endpoints, with the truth in place of these beliefs. */
function trueLoad(believed: LoadView, upstreams: readonly Upstream[], truths: ReadonlySet<Belief>): LoadView {
  const { nowMs, adapterLoadMs } = believed;
  const told = Object.entries(TRUTHS).map(([name, [belief, truth]]) => {
    const believes = (slot: number) => believed[name as Told](slot);
    return [name, truths.has(belief) ? (slot: number) => truth(upstreams[slot]!, nowMs) : believes];
  });
  return {
    ...(Object.fromEntries(told) as Pick<LoadView, Told>),
    nowMs,
    adapterLoadMs,
    isPaused: (slot) => believed.isPaused(slot),
    attributes: (slot) => believed.attributes(slot),
    isFull: (slot) => believed.isFull(slot),
    adapters: (slot) => believed.adapters(slot),
    unlisted: (slot, name) => believed.unlisted(slot, name),
    adapterMs: (slot, name) => believed.adapterMs(slot, name),
  };
}
