import type { Endpoint } from "../contract/endpoint.ts";
import { type AdapterFacts, type LoadView, NO_ATTRIBUTES, type ScrapedValues } from "../contract/load-view.ts";
import type { BookingListener } from "./booking-listener.ts";
import { EngineLimits } from "./engine-limits.ts";
import { LoadAt } from "./load-at.ts";
import { PrefillQueue, type PrefillWork } from "./prefill-queue.ts";
import { type ReplicaSpeed, ReplicaSpeeds } from "./replica-speeds.ts";
import type { ResidentAdapters } from "./resident-adapters.ts";
import { UnlistedNames } from "./unlisted-names.ts";

/** The most endpoints that a router can have at once. A slot is reused when its endpoint has gone and its requests have ended. */
export const MAX_SLOTS = 1024;

/** Live numbers of every endpoint by slot, one array for each, times on the router's clock. Only `cacheTokens` changes without a method. */
export class LoadTable {
  readonly inFlight = new Int32Array(MAX_SLOTS);
  readonly prefillTokens = new Float64Array(MAX_SLOTS);
  readonly waiting = new Float64Array(MAX_SLOTS).fill(Number.NaN);
  readonly running = new Float64Array(MAX_SLOTS).fill(Number.NaN);
  readonly kvUsage = new Float64Array(MAX_SLOTS).fill(Number.NaN);
  readonly cacheTokens: (number | undefined)[] = [];
  readonly attributes = new Array<ReadonlyMap<string, number>>(MAX_SLOTS).fill(NO_ATTRIBUTES);
  readonly scrapedAtMs = new Float64Array(MAX_SLOTS).fill(Number.NaN);
  readonly freshness = new Float64Array(MAX_SLOTS);
  /** Until when the replica asked to be left alone, by a 503 or 429 or its metrics; on the router's clock. */
  readonly pausedUntilMs = new Float64Array(MAX_SLOTS).fill(Number.NEGATIVE_INFINITY);
  readonly engineLimits = new EngineLimits(MAX_SLOTS);
  readonly adapters = new Array<AdapterFacts | undefined>(MAX_SLOTS).fill(undefined);
  /** Is told of endpoints that may have more room than before; undefined if nobody waits for that. */
  freed: ((slot: number) => void) | undefined;
  /** Undefined where requests don't wait for room. */
  room: { isFull(slot: number): boolean } | undefined;
  /** Undefined where nobody remembers which adapters were sent where. */
  residents: ResidentAdapters | undefined;
  /** Is told what bookings write here; undefined if nobody is. */
  heard: BookingListener | undefined;
  /** Names that replicas load when they are first asked for. */
  readonly unlisted = new UnlistedNames();
  readonly #queues: PrefillQueue[] = [];
  readonly #speeds: ReplicaSpeed[] = [];
  readonly #pool = new ReplicaSpeeds();
  readonly #slots = new Map<string, number>();
  readonly #generations = new Int32Array(MAX_SLOTS);
  readonly #retired = new Set<number>();

  /** The view that a decision at `nowMs` (on the router's clock) reads. */
  at(nowMs: number): LoadView {
    return new LoadAt(this, nowMs);
  }

  /**
   * The slot of the endpoint `name`. Assigns a free one if it has none; the endpoint that had that slot before is then not
   * current any more. Throws RangeError when all slots are in use.
   */
  slotOf(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = this.#freeSlot();
    this.#slots.set(name, slot);
    this.#begin(slot);
    this.#generations[slot]! += 1;
    this.unlisted.forgetSlot(slot);
    this.forgetScrape(slot);
    return slot;
  }

  /**
   * Another process serves the slot now: the old one's prompts will not be processed. Requests under way stay counted until
   * they end. `isSameReplica`: the same replica restarted, so its measured speed and scraped values are kept.
   */
  replaced(slot: number, isSameReplica: boolean): void {
    if (isSameReplica) {
      this.#queues[slot] = new PrefillQueue(this.speedOf(slot));
      // It may have been started with other flags.
      this.speedOf(slot).isReported = false;
    } else this.#begin(slot);
    this.#generations[slot]! += 1;
    this.unlisted.forgetSlot(slot);
    if (!isSameReplica) this.forgetScrape(slot);
  }

  generationOf(slot: number): number {
    return this.#generations[slot]!;
  }

  /** Whether the slot's numbers still belong to this endpoint; check it before a late write. */
  isCurrent({ slot, generation }: Endpoint): boolean {
    return this.#generations[slot] === generation;
  }

  remainingPrefill(slot: number, nowMs: number): number {
    return this.#queues[slot]?.remaining(nowMs) ?? 0;
  }

  waitingPrompts(slot: number, nowMs: number): number {
    return this.#queues[slot]?.waiting(nowMs) ?? 0;
  }

  /** How many milliseconds the next first token is overdue; below 0 for time that is left. */
  firstTokenLateMs(slot: number, nowMs: number): number {
    return this.#queues[slot]?.lateMs(nowMs) ?? 0;
  }

  prefillRate(slot: number, nowMs: number): number {
    return this.speedOf(slot).rateAt(nowMs);
  }

  /** What is learned of the replica's speed; another replica in the slot has another. */
  speedOf(slot: number): ReplicaSpeed {
    if (this.#speeds[slot] === undefined) this.#begin(slot);
    return this.#speeds[slot]!;
  }

  /** Of any slot: what one replica's speed rests on counts for all. */
  get isRateKnown(): boolean {
    return this.#pool.isMeasured;
  }

  /** A request is sent. */
  begin(slot: number, work: PrefillWork, nowMs: number): void {
    this.inFlight[slot]! += 1;
    this.prefillTokens[slot]! += work.tokens;
    this.#queueOf(slot).add(work, nowMs);
  }

  /**
   * The prompt needs no more work. `isWorkedOff`: the endpoint processed it; false: the request ended before. Returns how many
   * milliseconds it took; NaN if that is unknown.
   */
  endPrefill(slot: number, work: PrefillWork, isWorkedOff: boolean, nowMs: number): number {
    this.prefillTokens[slot]! -= work.tokens;
    const tookMs = this.#queueOf(slot).remove(work, nowMs, isWorkedOff);
    this.freed?.(slot);
    return tookMs;
  }

  /** Whether the endpoint works on the prompt by now, or has. */
  hasBegun(slot: number, work: PrefillWork, nowMs: number): boolean {
    return this.#queueOf(slot).hasBegun(work, nowMs);
  }

  /** The request ended. */
  end(slot: number): void {
    this.inFlight[slot]! -= 1;
    this.freed?.(slot);
  }

  /** Frees the endpoint's slot; it is reused only after its last request has ended. The endpoint is not current any more. */
  retire(name: string): void {
    const slot = this.#slots.get(name);
    if (slot === undefined) return;
    this.#slots.delete(name);
    this.#retired.add(slot);
    this.#generations[slot]! += 1;
  }

  /** Writes values read from the replica's metrics; they count fully until `fade`. */
  scraped(slot: number, values: ScrapedValues, nowMs: number): void {
    this.waiting[slot] = values.waiting ?? Number.NaN;
    this.running[slot] = values.running ?? Number.NaN;
    this.kvUsage[slot] = values.kvUsage ?? Number.NaN;
    this.attributes[slot] = attributesOf(values);
    this.scrapedAtMs[slot] = nowMs;
    this.freshness[slot] = Number.isNaN(nowMs) ? 0 : 1;
    this.engineLimits.reported(slot, values, this.inFlight[slot]!);
    this.freed?.(slot);
  }

  /** New metrics are late: from now on the last ones count by `freshness`, in [0, 1]. */
  fade(slot: number, freshness: number): void {
    this.freshness[slot] = freshness;
  }

  /** The replica asked to be left alone until then. */
  pause(slot: number, untilMs: number): void {
    this.pausedUntilMs[slot] = untilMs;
  }

  /** The same, unless it asked for longer. */
  pauseAtLeast(slot: number, untilMs: number): void {
    this.pause(slot, Math.max(untilMs, this.pausedUntilMs[slot]!));
  }

  knowAdapters(slot: number, facts: AdapterFacts | undefined): void {
    this.adapters[slot] = facts;
  }

  forgetScrape(slot: number): void {
    this.scraped(slot, {}, Number.NaN);
    this.knowAdapters(slot, undefined);
    this.pause(slot, Number.NEGATIVE_INFINITY);
  }

  /** Another replica has the slot. */
  #begin(slot: number): void {
    const speed = this.#pool.add();
    this.#speeds[slot] = speed;
    this.#queues[slot] = new PrefillQueue(speed);
  }

  #queueOf(slot: number): PrefillQueue {
    if (this.#queues[slot] === undefined) this.#begin(slot);
    return this.#queues[slot]!;
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

/** Only what is a number: a source may be a plugin of the user's own. */
function attributesOf({ attributes }: ScrapedValues): ReadonlyMap<string, number> {
  return !attributes ? NO_ATTRIBUTES : new Map(Object.entries(attributes).filter(([, value]) => Number.isFinite(value)));
}
