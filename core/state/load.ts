/**
 * The live numbers of every endpoint, one typed array per number, indexed by slot.
 * What the router knows itself is exact; scraped values are NaN until a page was read.
 */
export interface Load {
  /** Requests sent and not yet ended. */
  readonly inFlight: ArrayLike<number>;
  /** Prompt tokens sent and not yet answered by a first byte, minus those believed cached. */
  readonly prefillTokens: ArrayLike<number>;
  /** Requests waiting in the replica's own queue, scraped. */
  readonly waiting: ArrayLike<number>;
  /** Requests running in the replica, scraped. */
  readonly running: ArrayLike<number>;
  /** KV-cache utilization in [0, 1], scraped. */
  readonly kvUsage: ArrayLike<number>;
  /** When the scraped values were read, on the router's clock; NaN for never. */
  readonly scrapedAtMs: ArrayLike<number>;
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
  readonly #slots = new Map<string, number>();
  readonly #retired = new Set<number>();

  constructor() {
    this.inFlight = new Int32Array(MAX_SLOTS);
    this.prefillTokens = new Float64Array(MAX_SLOTS);
    this.waiting = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.running = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.kvUsage = new Float64Array(MAX_SLOTS).fill(Number.NaN);
    this.scrapedAtMs = new Float64Array(MAX_SLOTS).fill(Number.NaN);
  }

  /** The slot of a named endpoint, taken now if it has none. */
  slotOf(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.#freeSlot();
    this.#slots.set(name, slot);
    this.forgetScrape(slot);
    return slot;
  }

  /** Gives the slot back once its last request has ended. */
  retire(name: string): void {
    const slot = this.#slots.get(name);
    if (slot === undefined) return;
    this.#slots.delete(name);
    this.#retired.add(slot);
  }

  /** Writes what a metrics page said; a value left out is unknown. */
  scraped(slot: number, values: { waiting?: number; running?: number; kvUsage?: number }, nowMs: number): void {
    this.waiting[slot] = values.waiting ?? Number.NaN;
    this.running[slot] = values.running ?? Number.NaN;
    this.kvUsage[slot] = values.kvUsage ?? Number.NaN;
    this.scrapedAtMs[slot] = nowMs;
  }

  forgetScrape(slot: number): void {
    this.scraped(slot, {}, Number.NaN);
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
  #prefillTokens: number;
  #isHeld = true;

  constructor(table: LoadTable, slot: number, prefillTokens: number) {
    this.#table = table;
    this.#slot = slot;
    this.#prefillTokens = prefillTokens;
    table.inFlight[slot]! += 1;
    table.prefillTokens[slot]! += prefillTokens;
  }

  /** The first response byte came: the prompt has been worked off. */
  firstByte(): void {
    this.#table.prefillTokens[this.#slot]! -= this.#prefillTokens;
    this.#prefillTokens = 0;
  }

  /** The request ended, however it ended. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.firstByte();
    this.#table.inFlight[this.#slot]! -= 1;
  }
}
