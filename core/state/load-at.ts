import type { AdapterFacts, LoadView, UnlistedName } from "../contract/load-view.ts";
import type { ResidentAdapters } from "./resident-adapters.ts";
import type { UnlistedNames } from "./unlisted-names.ts";

/** What it reads, by slot. */
interface Numbers {
  readonly inFlight: Int32Array;
  readonly prefillTokens: Float64Array;
  readonly waiting: Float64Array;
  readonly running: Float64Array;
  readonly kvUsage: Float64Array;
  readonly scrapedAtMs: Float64Array;
  readonly freshness: Float64Array;
  readonly pausedUntilMs: Float64Array;
  readonly attributes: readonly ReadonlyMap<string, number>[];
  readonly adapters: readonly (AdapterFacts | undefined)[];
  readonly unlisted: UnlistedNames;
  readonly residents: ResidentAdapters | undefined;
  readonly isRateKnown: boolean;
  readonly room: { isFull(slot: number): boolean } | undefined;
  remainingPrefill(slot: number, nowMs: number): number;
  waitingPrompts(slot: number, nowMs: number): number;
  prefillRate(slot: number, nowMs: number): number;
}

/** The table at one moment. Plugins get this view, so it only reads. */
export class LoadAt implements LoadView {
  readonly nowMs: number;
  readonly #table: Numbers;

  constructor(table: Numbers, nowMs: number) {
    this.#table = table;
    this.nowMs = nowMs;
  }

  isPaused(slot: number): boolean {
    return this.#table.pausedUntilMs[slot]! > this.nowMs;
  }

  isFull(slot: number): boolean {
    return this.#table.room?.isFull(slot) ?? false;
  }

  inFlight(slot: number): number {
    return this.#table.inFlight[slot]!;
  }

  prefillTokens(slot: number): number {
    return this.#table.prefillTokens[slot]!;
  }

  remainingPrefill(slot: number): number {
    return this.#table.remainingPrefill(slot, this.nowMs);
  }

  waitingPrompts(slot: number): number {
    return this.#table.waitingPrompts(slot, this.nowMs);
  }

  prefillRate(slot: number): number {
    return this.#table.prefillRate(slot, this.nowMs);
  }

  isRateKnown(): boolean {
    return this.#table.isRateKnown;
  }

  waiting(slot: number): number {
    return this.#table.waiting[slot]!;
  }

  running(slot: number): number {
    return this.#table.running[slot]!;
  }

  kvUsage(slot: number): number {
    return this.#table.kvUsage[slot]!;
  }

  attributes(slot: number): ReadonlyMap<string, number> {
    return this.#table.attributes[slot]!;
  }

  scrapedAtMs(slot: number): number {
    return this.#table.scrapedAtMs[slot]!;
  }

  freshness(slot: number): number {
    return this.#table.freshness[slot]!;
  }

  adapters(slot: number): AdapterFacts | undefined {
    return this.#table.adapters[slot];
  }

  unlisted(slot: number, name: string): UnlistedName | undefined {
    return this.#table.unlisted.at(slot, name, this.nowMs);
  }

  adapterMs(slot: number, name: string): number {
    return this.#table.residents?.waitMs(slot, name) ?? 0;
  }

  get adapterLoadMs(): number {
    return this.#table.unlisted.adapterLoadMs;
  }
}

// A plugin that writes to its view fails there, instead of changing what the next one reads.
Object.freeze(LoadAt.prototype);
