import type { Outcome } from "../../../core/contract/outcome.ts";
import type { RouterHost } from "../../../core/router-host.ts";
import type { KnownPart } from "./prompts/known-prompts.ts";
import type { Promised, ReplicaCache } from "./replica-cache.ts";
import type { Testimony } from "./testimony.ts";
import type { Wrong } from "./voice.ts";

/** A promise that its response does not confirm. */
interface Unkept {
  readonly known: KnownPart;
  readonly promised: Promised;
  readonly promisedTokens: number;
  readonly reportedTokens: number;
}

/** What of a request is looked at again when its events must have come. */
interface Doubt {
  readonly cache: ReplicaCache;
  readonly generation: number;
  readonly dueAtMs: number;
  /** Since then an event had to come; NaN if none had to. */
  readonly sentAtMs: number;
  readonly unkept: Unkept | undefined;
}

/** What was promised of one request, and what came of it. */
export interface KeptPromise {
  readonly endpoint: string;
  readonly promisedTokens: number;
  readonly reportedTokens: number;
  /** Whether the decision followed the events. */
  readonly hasCounted: boolean;
}

const GRACE_MS = 1_000;
/** Beyond it new ones are passed over: those that are there are looked at in any case. */
const MOST_DOUBTS = 512;
/** Beside one block: where a prompt's known part ends in tokens is an estimate. */
const SLACK_SHARE = 0.02;
/** For an engine that has never stored a block. */
const USUAL_BLOCK_TOKENS = 256;

/** Compares what events promised of a prompt with what the replica that served it reports (`usage`), and judges each replica by that. */
export class Promises {
  readonly #host: RouterHost;
  readonly #kept = new WeakMap<Outcome, KeptPromise>();
  #doubts: Doubt[] = [];
  #cancel: (() => void) | undefined;

  constructor(host: RouterHost) {
    this.#host = host;
  }

  /** The request was served by this replica, whole. */
  settled(outcome: Outcome, cache: ReplicaCache, testimony: Testimony | undefined): void {
    const { usage, times } = outcome;
    if (usage?.cachedTokens === undefined || !(usage.promptTokens > 0) || !cache.isFollowed) return;
    const { promptTokens, cachedTokens } = usage;
    const size = sizeIn(cache) || USUAL_BLOCK_TOKENS;
    const sent = this.#host.clock.now() - (times.endMs - times.dispatchedMs);
    const isStored = promptTokens - cachedTokens >= 2 * size;
    const unkept = this.#compare(outcome, cache, testimony, size);
    if (unkept === undefined && !isStored) return;
    this.#doubt({
      cache,
      generation: cache.endpoint.generation,
      dueAtMs: this.#host.clock.now() + GRACE_MS,
      sentAtMs: isStored ? sent : Number.NaN,
      unkept,
    });
  }

  of(outcome: Outcome): KeptPromise | undefined {
    return this.#kept.get(outcome);
  }

  close(): void {
    this.#cancel?.();
    this.#doubts = [];
  }

  /** Judges what can be judged now; returns what the events of the next moment may explain. */
  #compare(outcome: Outcome, cache: ReplicaCache, testimony: Testimony | undefined, size: number): Unkept | undefined {
    const { slot, name } = cache.endpoint;
    const promised = testimony?.promisedAt(slot);
    if (testimony === undefined || promised === undefined) return undefined;
    const { promptTokens, cachedTokens = 0 } = outcome.usage!;
    // An engine computes at least one token of a prompt.
    const tokens = Math.min(promised.tokens, Math.floor((promptTokens - 1) / size) * size);
    const kept = { endpoint: name, promisedTokens: tokens, reportedTokens: cachedTokens };
    this.#kept.set(outcome, { ...kept, hasCounted: testimony.hasCounted(slot) });
    const slack = slackOf(tokens, size);
    if (tokens > cachedTokens + slack || (promised.isExact && !promised.isAll && cachedTokens > tokens + slack))
      return { known: testimony.known, promised, promisedTokens: tokens, reportedTokens: cachedTokens };
    if (testimony.known.tokens >= size) this.#judge(cache, undefined);
    return undefined;
  }

  #doubt(doubt: Doubt): void {
    if (this.#doubts.length >= MOST_DOUBTS) return;
    this.#doubts.push(doubt);
    this.#cancel ??= this.#host.clock.after(GRACE_MS, () => this.#lookAgain());
  }

  #lookAgain(): void {
    this.#cancel = undefined;
    const nowMs = this.#host.clock.now();
    const due = this.#doubts.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    this.#doubts = this.#doubts.filter(({ dueAtMs }) => dueAtMs > nowMs);
    for (const doubt of due) this.#settle(doubt);
    const [next] = this.#doubts;
    if (next !== undefined) this.#cancel = this.#host.clock.after(Math.max(1, next.dueAtMs - nowMs), () => this.#lookAgain());
  }

  #settle({ cache, generation, sentAtMs, unkept }: Doubt): void {
    if (cache.endpoint.generation !== generation || !cache.isFollowed) return;
    if (unkept !== undefined && unkept.promisedTokens > unkept.reportedTokens) return this.#settleTooMuch(cache, unkept);
    if (cache.heardAtMs < sentAtMs) return this.#judge(cache, "silent");
    if (cache.voice.lastWrong === "silent" && !Number.isNaN(sentAtMs)) this.#judge(cache, undefined);
    if (unkept !== undefined) this.#settleTooLittle(cache, unkept);
  }

  /** What was evicted before the request began is told by later events: then the promise was true when it was made. */
  #settleTooMuch(cache: ReplicaCache, { known, promised, promisedTokens, reportedTokens }: Unkept): void {
    const tokens = Math.min(promisedTokens, cache.keptSince(promised.moment, known));
    if (tokens > reportedTokens + slackOf(tokens, sizeIn(cache))) this.#judge(cache, "too-much");
    else cache.voice.evicted += 1;
  }

  #settleTooLittle(cache: ReplicaCache, { known, reportedTokens }: Unkept): void {
    const now = cache.promised(known);
    // Another request with the same prompt came between, and its events are here by now.
    if (now === undefined || now.isAll || !now.isExact) return;
    if (now.tokens + slackOf(reportedTokens, sizeIn(cache)) < reportedTokens) this.#judge(cache, "too-little");
  }

  #judge(cache: ReplicaCache, wrong: Wrong | undefined): void {
    const { voice, endpoint } = cache;
    if (!voice.judged(wrong)) return;
    const { log } = this.#host.services;
    const about = { endpoint: endpoint.name };
    if (voice.isLost)
      log.warn("What a replica publishes of its cache is not believed any more: its responses report otherwise", {
        ...about,
        last: wrong ?? "",
      });
    else log.info("What a replica publishes of its cache is believed again", about);
  }
}

function sizeIn({ publishers }: ReplicaCache): number {
  return publishers[0]!.blocks.blockTokens;
}

/** By how much a promise may be wrong. */
function slackOf(tokens: number, blockTokens: number): number {
  return blockTokens + SLACK_SHARE * tokens;
}
