import { BlockHash } from "../events/block-hash.ts";
import { EventReader, type EventSink } from "../events/event-reader.ts";
import type { StoredBlocks } from "../events/stored-blocks.ts";
import { type BlockBudget, BlockTable } from "./block-table.ts";

/** A cache that has given up so much of its size, and not grown by more than that meanwhile, is full. */
const STEADY_SHARE = 0.25;
const GROWTH = 1.02;

/** Why not all is known that a cache may hold: what was stored before anybody listened, or in what was not heard or not understood. */
export type Unknown = "before" | "missed" | "unreadable" | "resized";

/** What one engine's cache holds, by its events. */
export class EngineBlocks implements EventSink {
  /** Tokens in a block; 0 before the first event that tells. */
  blockTokens = 0;
  /** How often the engine said that it has dropped all. */
  clears = 0;
  /** Blocks of which it is unknown what is before them, because that was stored before anybody listened. */
  orphans = 0;
  /** There was no room for all of its blocks: the table misses some. */
  isCut = false;
  /** All that the cache may hold has been told. */
  isWhole = false;
  /** Why it is not, where it is not. */
  unknown: Unknown = "before";
  /** The most blocks that it had while it gave some up, and how many it has given up since it had so many. */
  #most = 0;
  #givenUp = 0;
  readonly #table: BlockTable;
  readonly #hash = new BlockHash();
  readonly #reader = new EventReader(this);

  constructor(budget: BlockBudget) {
    this.#table = new BlockTable(budget);
  }

  get size(): number {
    return this.#table.size;
  }

  /** Tokens that fit into the cache: as many as it had whenever it gave up blocks for a while; undefined before that. */
  get fullTokens(): number | undefined {
    return this.#most > 0 && this.#givenUp >= STEADY_SHARE * this.#most ? this.#most * this.blockTokens : undefined;
  }

  /** Begins with one batch. Throws a RangeError for what is none. Returns the time in it, in seconds. */
  begin(payload: Uint8Array): number {
    return this.#reader.begin(payload);
  }

  /** Takes events of so many bytes of the batch. Returns whether that was all. Throws a RangeError for what is none. */
  takeOn(bytes: number): boolean {
    return this.#reader.readOn(bytes);
  }

  holds(keyLow: number, keyHigh: number): boolean {
    return this.#table.holds(keyLow, keyHigh);
  }

  /** Whether it has had the block from that moment (`blockMoment`) on, without giving it up in between. */
  heldSince(keyLow: number, keyHigh: number, moment: number): boolean {
    return this.#table.heldSince(keyLow, keyHigh, moment);
  }

  /** Nothing is known any more; `isEmpty`: the cache is empty, so that is all there is to know. */
  forget(isEmpty: boolean, why: Unknown = "before"): void {
    this.unknown = why;
    this.#table.clear();
    this.#reader.restarted();
    this.#most = 0;
    this.#givenUp = 0;
    this.isCut = false;
    this.isWhole = isEmpty;
  }

  stored(stored: StoredBlocks, medium: number): void {
    const { hashes, tokens, extras, count, blockTokens } = stored;
    const table = this.#table;
    const hash = this.#hash;
    if (blockTokens > 0 && blockTokens !== this.blockTokens) this.#resize(blockTokens);
    hash.begin();
    let isLinked = blockTokens > 0 && (!stored.hasParent || this.#follow(stored.parentLow, stored.parentHigh));
    for (let i = 0; i < count; i++) {
      const [low, high] = [hashes[2 * i]!, hashes[2 * i + 1]!];
      const entry = table.find(low, high);
      if (entry !== 0) {
        table.mark(entry, medium);
        hash.begin(table.keyLow(entry), table.keyHigh(entry));
        isLinked = blockTokens > 0;
        continue;
      }
      if (!isLinked) {
        this.orphans += 1;
        continue;
      }
      hash.link(tokens[2 * i]!, tokens[2 * i + 1]!, extras[2 * i]!, extras[2 * i + 1]!);
      if (!table.add(low, high, hash.low, hash.high, medium)) this.isCut = true;
    }
  }

  removed(low: number, high: number, medium: number): void {
    if (this.isWhole && !this.isCut) this.#giveUp();
    this.#table.remove(low, high, medium);
  }

  cleared(): void {
    this.#table.clear();
    this.clears += 1;
    this.isCut = false;
    this.isWhole = true;
  }

  #giveUp(): void {
    if (this.size > this.#most * GROWTH) {
      this.#most = this.size;
      this.#givenUp = 0;
    }
    this.#givenUp += 1;
  }

  /** The next block's key is made of that of this block. */
  #follow(low: number, high: number): boolean {
    const entry = this.#table.find(low, high);
    if (entry === 0) return false;
    this.#hash.begin(this.#table.keyLow(entry), this.#table.keyHigh(entry));
    return true;
  }

  /** Blocks of one size are no prefixes of those of another. An engine that holds none, as one that has just started, loses nothing by it. */
  #resize(blockTokens: number): void {
    if (this.size > 0 || this.isCut) this.forget(false, "resized");
    this.#most = 0;
    this.#givenUp = 0;
    this.blockTokens = blockTokens;
  }
}
