import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Booked } from "../../../core/state/booking-listener.ts";
import type { LoadTable } from "../../../core/state/load.ts";
import type { ResidentAdapters } from "../../../core/state/resident-adapters.ts";
import { AdapterMemory } from "./adapter-memory.ts";
import { LoadCost, type Standing } from "./load-cost.ts";
import { Popularity } from "./popularity.ts";

/** What an adapter that gives way counts where another engine holds it, too. */
const COPY_SHARE = 0.25;
/** Where adapters had to give way the last time they do again, if all are worth about as much: so the others stay where they are. */
const SAME_AGAIN = 0.15;

export interface SentOptions {
  /** Of replicas whose metrics do not say it; 0: not known. */
  readonly maxLora: number;
  readonly maxCpuLora: number;
}

/** How many adapters an engine runs at the same time, and how many it keeps, those included; NaN if that is not known. */
interface Room {
  readonly run: number;
  readonly kept: number;
}

interface Place {
  readonly generation: number;
  readonly memory: AdapterMemory;
  /** When a request was sent there last that its adapter is loaded for. */
  loadedAtMs: number;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Remembers which adapters were sent where, and so which engines hold which: vLLM's metrics name only those in use, and of an adapter that
 * no engine holds nobody would know that its load costs something.
 */
export class SentAdapters implements ResidentAdapters {
  /** Set by each config. */
  options: SentOptions = { maxLora: 0, maxCpuLora: 0 };
  readonly cost = new LoadCost();
  readonly #load: LoadTable;
  readonly #clock: Clock;
  readonly #places: (Place | undefined)[] = [];
  readonly #popularity = new Popularity();
  /** How many engines hold each. */
  readonly #copies = new Map<string, number>();
  readonly #underWay = new Map<Booked, Standing>();
  /** The most that run at the same time, as a replica's metrics said last. */
  #usualRun = 0;
  #lastDisplaced = -1;

  constructor(load: LoadTable, clock: Clock) {
    this.#load = load;
    this.#clock = clock;
  }

  waitMs(slot: number, name: string): number {
    const { run, kept } = this.#roomOf(slot);
    const memory = this.#placeAt(slot)?.memory;
    const inUse = this.#inUseAt(slot);
    const chance = inUse.has(name) ? 1 : (memory?.chanceOfHolding(name, run) ?? 0);
    if (chance === 1) return 0;
    const isKept = kept > run && memory?.has(name) === true;
    // How long a replica takes that does not list it yet is learned elsewhere.
    const loadMs = this.#load.adapters[slot]?.names?.has(name) === true ? this.cost.ms(isKept ? "warm" : "cold") : 0;
    if (memory === undefined) return loadMs;
    const others = othersIn(inUse, memory);
    // One that gives way to it in the accelerator may be kept in the host's memory, where another one gives way.
    let lostMs = this.#lostAt(slot, memory, run, others, this.cost.ms(kept > run ? "warm" : "cold"));
    if (kept > run && !isKept) lostMs += this.#lostAt(slot, memory, kept, others, this.cost.ms("cold"));
    return (1 - chance) * (loadMs + lostMs);
  }

  began(booked: Booked): boolean {
    const { request, endpoint } = booked;
    const { slot } = endpoint;
    if (!this.#load.isCurrent(endpoint) || !this.#isAdapter(request.target, endpoint)) return false;
    const use = this.#load.adapters[slot]?.use;
    if (use !== undefined && use.max > 0) this.#usualRun = use.max;
    const room = this.#roomOf(slot);
    const place = this.#placeOf(slot);
    const { memory } = place;
    // Other routers, or clients that come without one, use these.
    for (const name of this.#inUseAt(slot)) if (!memory.has(name)) this.#use(memory, name, 0, room);
    const standing = this.#standingAt(memory, request.target, room);
    this.#popularity.asked(request.target);
    this.#underWay.set(booked, standing);
    const isLoading = standing === "cold" || standing === "warm";
    if (isLoading) {
      if (memory.chanceOfFull(room.kept, 0) === 1) this.#lastDisplaced = slot;
      place.loadedAtMs = this.#clock.now();
    }
    this.#use(memory, request.target, 1, room);
    return isLoading;
  }

  firstToken(booked: Booked, seenMs: number, tokensAhead: number): void {
    const standing = this.#underWay.get(booked);
    if (standing === undefined) return;
    const usualMs = tokensAhead / this.#load.prefillRate(booked.endpoint.slot, this.#clock.now());
    this.cost.learn(standing, seenMs - usualMs);
  }

  ended(booked: Booked, isServed: boolean): void {
    const standing = this.#underWay.get(booked);
    if (standing === undefined) return;
    this.#underWay.delete(booked);
    const { request, endpoint } = booked;
    const memory = this.#placeAt(endpoint.slot)?.memory;
    if (memory === undefined || !this.#load.isCurrent(endpoint) || !memory.has(request.target)) return;
    if (isServed || standing !== "cold") this.#use(memory, request.target, -1, this.#roomOf(endpoint.slot));
    else if (memory.withdraw(request.target)) this.#countCopy(request.target, -1);
  }

  /** Replicas that have gone hold nothing. */
  follow(endpoints: readonly Endpoint[]): void {
    const slots = new Set(endpoints.map(({ slot }) => slot));
    for (const slot of this.#places.keys()) if (!slots.has(slot)) this.#forget(slot);
  }

  /** What an endpoint's engine is believed to hold, the least recently used first. */
  heldAt({ slot }: Endpoint): readonly string[] {
    return this.#placeAt(slot)?.memory.names ?? [];
  }

  /** What a model list tells from base models, or the replica loads for requests. */
  #isAdapter(target: string, { slot, models }: Endpoint): boolean {
    return this.#load.adapters[slot]?.names?.has(target) ?? (target !== "" && !models.has(target));
  }

  #standingAt(memory: AdapterMemory, name: string, room: Room): Standing {
    if (!memory.has(name)) return "cold";
    const chance = memory.chanceOfHolding(name, room.run);
    if (chance === 1) return "held";
    return chance === 0 ? "warm" : "unknown";
  }

  /** Adapters in use, as the metrics say: what they said before the last load has been overtaken by it. */
  #inUseAt(slot: number): ReadonlySet<string> {
    const use = this.#load.adapters[slot]?.use;
    const loadedAtMs = this.#placeAt(slot)?.loadedAtMs ?? Number.NEGATIVE_INFINITY;
    return use !== undefined && this.#load.scrapedAtMs[slot]! > loadedAtMs ? use.running : NONE;
  }

  /** What loading the adapter again will cost that gives way where there is room for `most`. */
  #lostAt(slot: number, memory: AdapterMemory, most: number, others: number, loadMs: number): number {
    const isFull = memory.chanceOfFull(most, others);
    if (isFull === 0) return 0;
    const victim = memory.victim(most);
    if (victim === undefined) return isFull * loadMs;
    const copies = this.#copies.get(victim) ?? 1;
    const chance = this.#popularity.chanceOf(victim) * (copies > 1 ? COPY_SHARE : 1);
    return isFull * loadMs * Math.max(0, chance - (slot === this.#lastDisplaced ? SAME_AGAIN : 0));
  }

  #roomOf(slot: number): Room {
    const { maxLora, maxCpuLora } = this.options;
    const run = this.#load.adapters[slot]?.use?.max || maxLora || this.#usualRun || Number.NaN;
    return { run, kept: Math.max(run, maxCpuLora) };
  }

  #use(memory: AdapterMemory, name: string, change: 1 | 0 | -1, room: Room): void {
    if (!memory.has(name)) this.#countCopy(name, 1);
    for (const gone of memory.used(name, change, room.kept)) this.#countCopy(gone, -1);
  }

  #countCopy(name: string, change: 1 | -1): void {
    const copies = (this.#copies.get(name) ?? 0) + change;
    if (copies > 0) this.#copies.set(name, copies);
    else this.#copies.delete(name);
  }

  /** Undefined where nothing was sent to the engine that runs there now. */
  #placeAt(slot: number): Place | undefined {
    const place = this.#places[slot];
    return place?.generation === this.#load.generationOf(slot) ? place : undefined;
  }

  #placeOf(slot: number): Place {
    const known = this.#placeAt(slot);
    if (known !== undefined) return known;
    this.#forget(slot);
    const generation = this.#load.generationOf(slot);
    const place = { generation, memory: new AdapterMemory(), loadedAtMs: Number.NEGATIVE_INFINITY };
    this.#places[slot] = place;
    return place;
  }

  #forget(slot: number): void {
    for (const name of this.#places[slot]?.memory.names ?? []) this.#countCopy(name, -1);
    this.#places[slot] = undefined;
  }
}

/** Adapters in use that this router has not sent. */
function othersIn(inUse: ReadonlySet<string>, memory: AdapterMemory): number {
  let others = 0;
  for (const name of inUse) if (!memory.has(name)) others += 1;
  return others;
}
