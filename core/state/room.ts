import type { LoadTable } from "./load.ts";

/** How much a replica may have; 0 for what is not set. With neither, it is learned. */
export interface RoomRules {
  /** Requests under way at one replica. */
  readonly concurrency: number;
  /** Prompt tokens that one replica has still to process. */
  readonly tokens: number;
}

// What is learned rests on three things: an engine that reports a queue has as many requests as it can run (EngineLimits);
// prompts ahead of a new one make its first token late; and an engine that is full gives no first token, while its load does not show it.

/** So many milliseconds of prompts keep an engine busy until the next one comes. */
const PREFILL_MS = 200;
/** An engine may be silent for so long before it counts as full, and for as long again as the prompt in front takes. */
const SILENCE_MS = 100;
/** One more request is tried for each such time of silence, because a single prompt may be the reason of it. */
const TRIAL_MS = 1_000;

/** Which replicas have room for another request. Reading changes nothing. */
export class ReplicaRoom {
  readonly #load: LoadTable;
  readonly #rules: RoomRules;

  constructor(load: LoadTable, rules: RoomRules) {
    this.#load = load;
    this.#rules = rules;
  }

  isFull(slot: number, nowMs: number): boolean {
    return this.fill(slot, nowMs) >= 1;
  }

  /** 0 is idle; from 1 on there is no room. A replica with nothing under way always has room, unless it asked to be left alone. */
  fill(slot: number, nowMs: number): number {
    const load = this.#load;
    if (load.pausedUntilMs[slot]! > nowMs) return 1;
    const inFlight = load.inFlight[slot]!;
    if (inFlight === 0) return 0;
    const { concurrency, tokens } = this.#rules;
    if (concurrency === 0 && tokens === 0) return this.#learnedFill(slot, inFlight, nowMs);
    const requests = concurrency === 0 ? 0 : inFlight / concurrency;
    return tokens === 0 ? requests : Math.max(requests, load.remainingPrefill(slot, nowMs) / tokens);
  }

  #learnedFill(slot: number, inFlight: number, nowMs: number): number {
    const load = this.#load;
    const rate = load.prefillRate(slot, nowMs);
    const limit = load.freshness[slot]! > 0 ? load.engineLimits.of(slot) : Number.POSITIVE_INFINITY;
    const prompts = load.remainingPrefill(slot, nowMs) / (rate * PREFILL_MS);
    const fill = Math.max(prompts, limit <= 0 ? 1 : inFlight / limit);
    return fill < 1 && this.#isSilent(slot, nowMs) ? 1 : fill;
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
