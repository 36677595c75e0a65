import type { AdapterFacts, LoadView, UnlistedName } from "../contract/load-view.ts";
import type { PrefixMatch } from "../contract/prefix-match.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { type Decider, decideAsAsked, type Question } from "./decider.ts";
import type { Prompt } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

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
    load: new TrueLoad(load, upstreams, truths),
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
    // A price, not a belief: what of other prompts is asked for again lies in the future, and no engine knows it.
    displacedTokens: (slot, tokens) => believed.displacedTokens?.(slot, tokens) ?? 0,
    // The router's blocks end elsewhere than the engines': as many as the share of the prompt.
    matchedBlocks: (slot) => Math.floor(believed.blocks * matchedFraction(slot)),
  };
}

/** The router's view of its endpoints, with the truth in place of these beliefs. */
class TrueLoad implements LoadView {
  readonly nowMs: number;
  readonly #believed: LoadView;
  readonly #upstreams: readonly Upstream[];
  readonly #truths: ReadonlySet<Belief>;

  constructor(believed: LoadView, upstreams: readonly Upstream[], truths: ReadonlySet<Belief>) {
    this.nowMs = believed.nowMs;
    this.#believed = believed;
    this.#upstreams = upstreams;
    this.#truths = truths;
  }

  inFlight(slot: number): number {
    return this.#knows("queue") ? this.#upstreams[slot]!.replica.size : this.#believed.inFlight(slot);
  }

  prefillTokens(slot: number): number {
    return this.#knows("queue") ? this.#upstreams[slot]!.replica.prefillTokens : this.#believed.prefillTokens(slot);
  }

  remainingPrefill(slot: number): number {
    return this.#knows("queue") ? this.#upstreams[slot]!.replica.prefillLeft : this.#believed.remainingPrefill(slot);
  }

  waitingPrompts(slot: number): number {
    return this.#knows("queue") ? this.#upstreams[slot]!.replica.unanswered : this.#believed.waitingPrompts(slot);
  }

  prefillRate(slot: number): number {
    return this.#knows("speed") ? Math.max(STANDSTILL, this.#upstreams[slot]!.tokensPerMs) : this.#believed.prefillRate(slot);
  }

  isRateKnown(slot: number): boolean {
    return this.#knows("speed") || this.#believed.isRateKnown(slot);
  }

  waiting(slot: number): number {
    return this.#knows("metrics") ? this.#upstreams[slot]!.replica.untouched : this.#believed.waiting(slot);
  }

  running(slot: number): number {
    return this.#knows("metrics") ? this.#upstreams[slot]!.replica.running : this.#believed.running(slot);
  }

  kvUsage(slot: number): number {
    return this.#knows("metrics") ? this.#upstreams[slot]!.replica.cache.usage : this.#believed.kvUsage(slot);
  }

  scrapedAtMs(slot: number): number {
    return this.#knows("metrics") ? this.nowMs : this.#believed.scrapedAtMs(slot);
  }

  freshness(slot: number): number {
    return this.#knows("metrics") ? 1 : this.#believed.freshness(slot);
  }

  isPaused(slot: number): boolean {
    return this.#believed.isPaused(slot);
  }

  adapters(slot: number): AdapterFacts | undefined {
    return this.#believed.adapters(slot);
  }

  unlisted(slot: number, name: string): UnlistedName | undefined {
    return this.#believed.unlisted(slot, name);
  }

  get adapterLoadMs(): number {
    return this.#believed.adapterLoadMs;
  }

  #knows(belief: Belief): boolean {
    return this.#truths.has(belief);
  }
}
