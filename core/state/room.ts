import type { LoadTable } from "./load.ts";

/** How much a replica may have; 0 for what is not set. With neither, it is learned. */
export interface RoomRules {
  /** Requests under way at one replica. */
  readonly concurrency: number;
  /** Prompt tokens that one replica has still to process. */
  readonly tokens: number;
}

// What is learned rests on three things: an engine that reports a queue has as many requests as it can run (EngineLimits); prompts ahead
// of a new one make its first token late; and an engine that is full gives no first token, while its load does not show it.

/** So many milliseconds of prompts may be ahead of a request while nobody waits: as many as come together below capacity. */
const CALM_MS = 600;
/**
 * The same while others wait: enough to keep an engine busy until the next request comes, and little enough that a later request of higher
 * priority is not late.
 */
const BUSY_MS = 50;
/** An engine may be silent for so long before it counts as full, and for twice as long again as the prompt in front takes. */
const SILENCE_MS = 100;
/** One more request is tried for each such time of silence, because a single prompt may be the reason of it. */
const TRIAL_MS = 1_000;

/** Which replicas have room for another request. Reading changes nothing. */
export class ReplicaRoom {
  readonly #load: LoadTable;
  readonly #rules: RoomRules;
  readonly #isLearned: boolean;

  constructor(load: LoadTable, rules: RoomRules) {
    this.#load = load;
    this.#rules = rules;
    this.#isLearned = rules.concurrency === 0 && rules.tokens === 0;
  }

  /** Whether it runs as many requests as it may, so that another would wait there. */
  isFull(slot: number): boolean {
    return this.#requests(slot) >= 1;
  }

  /** 0 is idle; from 1 on there is no room. A replica with nothing under way always has room, unless it asked to be left alone. */
  fill(slot: number, isCalm: boolean, nowMs: number): number {
    const load = this.#load;
    if (load.pausedUntilMs[slot]! > nowMs) return 1;
    if (load.inFlight[slot]! === 0) return 0;
    const fill = Math.max(this.#requests(slot), load.remainingPrefill(slot, nowMs) / this.#mostTokens(slot, isCalm, nowMs));
    return this.#isLearned && fill < 1 && this.#isSilent(slot, nowMs) ? 1 : fill;
  }

  #requests(slot: number): number {
    const load = this.#load;
    const inFlight = load.inFlight[slot]!;
    if (inFlight === 0) return 0;
    if (!this.#isLearned) return this.#rules.concurrency === 0 ? 0 : inFlight / this.#rules.concurrency;
    const limit = load.freshness[slot]! > 0 ? load.engineLimits.of(slot) : Number.POSITIVE_INFINITY;
    return limit <= 0 ? 1 : inFlight / limit;
  }

  #mostTokens(slot: number, isCalm: boolean, nowMs: number): number {
    if (!this.#isLearned) return this.#rules.tokens === 0 ? Number.POSITIVE_INFINITY : this.#rules.tokens;
    return this.#load.prefillRate(slot, nowMs) * (isCalm ? CALM_MS : BUSY_MS);
  }

  /** Whether it should have given a first token by now. What its metrics said after the last one counts more. */
  #isSilent(slot: number, nowMs: number): boolean {
    const load = this.#load;
    const lateMs = load.firstTokenLateMs(slot, nowMs) - SILENCE_MS;
    if (lateMs <= 0) return false;
    if (load.waiting[slot] === 0 && load.scrapedAtMs[slot]! > nowMs - lateMs) return false;
    return load.waitingPrompts(slot, nowMs) > lateMs / TRIAL_MS;
  }
}
