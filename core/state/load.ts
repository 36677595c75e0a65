import { type Clock, systemClock } from "../contract/clock.ts";
import { PrefillQueue, type PrefillWork } from "./prefill-queue.ts";

/**
 * The live numbers of every endpoint, one typed array per number, indexed by slot.
 * What the router knows itself is exact; scraped values are NaN until a page was read.
 */
export interface Load {
  /** Requests sent and not yet ended. */
  readonly inFlight: ArrayLike<number>;
  /** Prompt tokens sent and not yet answered by a first byte, minus those believed cached. */
  readonly prefillTokens: ArrayLike<number>;
  /** The same, less what the endpoint will have worked off by now at its measured speed. */
  remainingPrefill(slot: number): number;
  /** How many prompts that is. */
  waitingPrompts(slot: number): number;
  /** Prompt tokens the endpoint works off in a millisecond, measured. */
  prefillRate(slot: number): number;
  /** Requests waiting in the replica's own queue, scraped. */
  readonly waiting: ArrayLike<number>;
  /** Requests running in the replica, scraped. */
  readonly running: ArrayLike<number>;
  /** KV-cache utilization in [0, 1], scraped. */
  readonly kvUsage: ArrayLike<number>;
  /** When the scraped values were read, on the router's clock; NaN for never. */
  readonly scrapedAtMs: ArrayLike<number>;
  /** How much the scraped values still count, in [0, 1]: 1 while pages come in time, then less and less; 0 without any. */
  readonly freshness: ArrayLike<number>;
  /** Which adapters each endpoint has, as far as its own pages tell; undefined where they tell nothing. */
  readonly adapters: readonly (AdapterFacts | undefined)[];
}

/** What a replica's pages tell of its adapters. */
export interface AdapterFacts {
  /** Those of its models that are adapters; undefined while no list tells them from base models. */
  readonly names?: ReadonlySet<string> | undefined;
  /** Those with a request under way; undefined while no metrics page tells. */
  readonly use?: AdapterUse | undefined;
}

export interface AdapterUse {
  readonly running: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  /** Adapters that can run at the same time. */
  readonly max: number;
}

/** What a metrics page says; a value left out is unknown. */
export interface ScrapedValues {
  readonly waiting?: number;
  readonly running?: number;
  readonly kvUsage?: number;
}

/** Endpoints a router can know at once; a slot is reused after its endpoint is gone and idle. */
export const MAX_SLOTS = 1024;

/** Owns the arrays. Every change goes through one of its methods. */
export class LoadTable implements Load {
  readonly inFlight: Int32Array;
  readonly prefillTokens: Float64Array;
  readonly waiting: Float64Array;
  readonly running: Float64Array;
  readonly kvUsage: Float64Array;
  readonly scrapedAtMs: Float64Array;
  readonly freshness: Float64Array;
  readonly adapters: (AdapterFacts | undefined)[];
  readonly #clock: Pick<Clock, "now">;
  #nowMs: number;
  readonly #queues: PrefillQueue[] = [];
  readonly #slots = new Map<string, number>();
  readonly #retired = new Set<number>();

  constructor(clock: Pick<Clock, "now"> = systemClock) {
    this.#clock = clock;
    this.#nowMs = clock.now();
    this.inFlight = new Int32Array(MAX_SLOTS);
    this.prefillTokens = new Float64Array(MAX_SLOTS);
    this.waiting = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.running = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.kvUsage = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.scrapedAtMs = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.freshness = new Float64Array(MAX_SLOTS);
    this.adapters = new Array<AdapterFacts | undefined>(MAX_SLOTS).fill(undefined);
  }

  /** The slot of a named endpoint, taken now if it has none. */
  slotOf(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.#freeSlot();
    this.#slots.set(name, slot);
    this.#queues[slot] = new PrefillQueue(this.#usualRate());
    this.forgetScrape(slot);
    return slot;
  }

  /** Reads the clock, once for a whole decision: what depends on time is as of now, until the next refresh. */
  refresh(): void {
    this.#nowMs = this.#clock.now();
  }

  remainingPrefill(slot: number): number {
    return this.#queues[slot]?.remaining(this.#nowMs) ?? 0;
  }

  waitingPrompts(slot: number): number {
    return this.#queues[slot]?.waiting(this.#nowMs) ?? 0;
  }

  prefillRate(slot: number): number {
    return this.#queueOf(slot).rate;
  }

  /** A request was sent. */
  begin(slot: number, work: PrefillWork): void {
    this.inFlight[slot]! += 1;
    this.prefillTokens[slot]! += work.tokens;
    this.#queueOf(slot).add(work, this.#clock.now());
  }

  /** Its prompt needs no more work; `isWorkedOff` says whether the endpoint has done it. */
  endPrefill(slot: number, work: PrefillWork, isWorkedOff: boolean): void {
    this.prefillTokens[slot]! -= work.tokens;
    this.#queueOf(slot).remove(work, this.#clock.now(), isWorkedOff);
  }

  /** The request ended. */
  end(slot: number): void {
    this.inFlight[slot]! -= 1;
  }

  /** Gives the slot back once its last request has ended. */
  retire(name: string): void {
    const slot = this.#slots.get(name);
    if (slot === undefined) return;
    this.#slots.delete(name);
    this.#retired.add(slot);
  }

  /** Writes what the metrics pages say now; they count fully until `fade`. */
  scraped(slot: number, values: ScrapedValues, nowMs: number): void {
    this.waiting[slot] = values.waiting ?? Number.NaN;
    this.running[slot] = values.running ?? Number.NaN;
    this.kvUsage[slot] = values.kvUsage ?? Number.NaN;
    this.scrapedAtMs[slot] = nowMs;
    this.freshness[slot] = Number.isNaN(nowMs) ? 0 : 1;
  }

  /** Pages stay away: what the last one said counts only so much. */
  fade(slot: number, freshness: number): void {
    this.freshness[slot] = freshness;
  }

  knowAdapters(slot: number, facts: AdapterFacts | undefined): void {
    this.adapters[slot] = facts;
  }

  forgetScrape(slot: number): void {
    this.scraped(slot, {}, Number.NaN);
    this.knowAdapters(slot, undefined);
  }

  #queueOf(slot: number): PrefillQueue {
    this.#queues[slot] ??= new PrefillQueue(this.#usualRate());
    return this.#queues[slot];
  }

  /** The mean speed of those that were measured: the best guess for one that was not. */
  #usualRate(): number | undefined {
    const measured = this.#queues.filter((queue) => queue?.isMeasured);
    return measured.length === 0 ? undefined : measured.reduce((sum, queue) => sum + queue.rate, 0) / measured.length;
  }

  #freeSlot(): number {
    const used = new Set(this.#slots.values());
    for (let slot = 0; slot < MAX_SLOTS; slot++) {
      if (used.has(slot)) continue;
      if (this.#retired.has(slot) && this.inFlight[slot] !== 0) continue;
      this.#retired.delete(slot);
      return slot;
    }
    throw new RangeError(`More than ${MAX_SLOTS} endpoints: split the pool over several routers`);
  }
}

/**
 * One request's share of the load on one endpoint. Whoever holds it releases it on every way out;
 * each step counts once however often it is called.
 */
export class Lease {
  readonly #table: LoadTable;
  readonly #slot: number;
  readonly #work: PrefillWork;
  #isPrefilling = true;
  #isHeld = true;

  constructor(table: LoadTable, slot: number, work: PrefillWork) {
    this.#table = table;
    this.#slot = slot;
    this.#work = work;
    table.begin(slot, work);
  }

  /** The first response byte came: the prompt has been worked off. */
  firstByte(): void {
    this.#endPrefill(true);
  }

  /** The request ended, however it ended. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#endPrefill(false);
    this.#table.end(this.#slot);
  }

  #endPrefill(isWorkedOff: boolean): void {
    if (!this.#isPrefilling) return;
    this.#isPrefilling = false;
    this.#table.endPrefill(this.#slot, this.#work, isWorkedOff);
  }
}
