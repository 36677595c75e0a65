import type { SlotResidency } from "./prefix-stats.ts";
import { CHILDREN, PARENT, PrefixTable, STAMP } from "./prefix-table.ts";
import { RecencyLists } from "./recency-lists.ts";
import { ReuseAge } from "./reuse-age.ts";

// The blocks that each endpoint's cache is believed to hold. They are evicted in the engine's order: least recently used first,
// and a prompt's end before its beginning. So an endpoint that holds a block holds all blocks before it, and a binary search
// finds the longest match. Only the entry at the end of a prompt is in its slot's list; the blocks before it count as equally
// recent, so sending a prompt again touches one entry. When an entry is evicted, its parent takes its position in the list.

/** A hashed prompt. */
export interface Chain {
  readonly blocks: number;
  /** Two 32-bit words for each block. */
  readonly hashes: ArrayLike<number>;
  /** Tokens of the block with this index, at least 1. */
  tokensIn(block: number): number;
}

/** What one `admit` added, so that `withdraw` can remove it. */
export interface Admission {
  readonly slot: number;
  /** Leading blocks that the slot held before. */
  readonly from: number;
  readonly stamp: number;
}

/** XORed with the hash of a prompt's last block, they give the hash of the text generated after it. */
const GENERATED_LOW = 0x47656e65;
const GENERATED_HIGH = 0x72617465;
/** Above any number of tokens or entries. */
const UNLIMITED = 0x7fffffff;

export class Residency {
  readonly table: PrefixTable;
  readonly #lists: RecencyLists;
  readonly #tokens: Int32Array;
  readonly #capacity: Int32Array;
  readonly #entries: Int32Array;
  /** No slot from this one on has ever held an entry. */
  #slotsUsed = 0;
  /** The slot that `#makeRoom` evicted from last. It stays the victim while its oldest entry still has `#victimStamp`. */
  #victim = 0;
  #victimStamp = 0;
  #hasGenerated = false;
  readonly #reuseAge = new ReuseAge();

  constructor(maxBytes: number, capacityTokens: number) {
    this.table = new PrefixTable(maxBytes);
    this.#lists = new RecencyLists(this.table);
    this.#tokens = this.table.slotNumbers("tokens");
    this.#capacity = this.table.slotNumbers("capacity").fill(capacityTokens);
    this.#entries = this.table.slotNumbers("entries");
  }

  get slotsUsed(): number {
    return this.#slotsUsed;
  }

  /** Number of leading blocks that the slot holds. With a right guess it takes at most two look-ups for any length. */
  depth(chain: Chain, slot: number, guess: number): number {
    let held = 0;
    let open = chain.blocks;
    if (guess < open) {
      if (this.#entryOf(chain, guess, slot) !== 0) held = guess + 1;
      else open = guess;
    }
    if (open === guess && open > 0) {
      if (this.#entryOf(chain, open - 1, slot) !== 0) return open;
      open--;
    }
    while (held < open) {
      const middle = (held + open) >>> 1;
      if (this.#entryOf(chain, middle, slot) !== 0) held = middle + 1;
      else open = middle;
    }
    return held;
  }

  /** The prompt is sent to the slot's endpoint, which will hold all of it. `guess`: its expected depth. */
  admit(chain: Chain, slot: number, guess: number): Admission {
    const from = this.depth(chain, slot, guess);
    // The longer prompt contains the text that was generated after its beginning.
    if (this.#hasGenerated && from > 0 && from < chain.blocks) this.#dropGenerated(chain, from - 1, slot);
    const stamp = this.table.tick();
    this.#slotsUsed = Math.max(this.#slotsUsed, slot + 1);
    const held = from === 0 ? 0 : this.#entryOf(chain, from - 1, slot);
    if (held !== 0) this.#learnReuse(held);
    let last = held;
    // The extra child protects the blocks already held from eviction while room is made for the rest.
    if (held !== 0) this.#countChild(held, 1);
    this.#trim(slot, tokensFrom(chain, from));
    const end = from + Math.min(chain.blocks - from, this.#makeRoom(chain.blocks - from));
    for (let block = from; block < end; block++) last = this.#add(chain, block, slot, last);
    if (held !== 0) this.#countChild(held, -1);
    if (held !== 0 && this.#lists.stamp(held) !== 0) this.#lists.remove(slot, held);
    if (last !== 0) this.#lists.addNewest(slot, last, stamp);
    this.#trim(slot, 0);
    return { slot, from, stamp };
  }

  /** Text was generated after a prompt. It takes room until it is the least recently used, or a longer prompt contains it. */
  extend(chain: Chain, slot: number, tokens: number): void {
    const last = chain.blocks - 1;
    if (last < 0 || this.#entryOf(chain, last, slot) === 0) return;
    this.#hasGenerated = true;
    this.#dropGenerated(chain, last, slot);
    const parent = this.#entryOf(chain, last, slot);
    this.#countChild(parent, 1);
    this.#trim(slot, tokens);
    if (this.#makeRoom(1) === 0) {
      this.#countChild(parent, -1);
      return;
    }
    const low = chain.hashes[2 * last]! ^ GENERATED_LOW;
    const high = chain.hashes[2 * last + 1]! ^ GENERATED_HIGH;
    const entry = this.table.add(low, high, slot, parent, tokens);
    this.#tokens[slot]! += tokens;
    this.#entries[slot]!++;
    this.#lists.addNewest(slot, entry, this.table.tick());
    this.#trim(slot, 0);
  }

  /** Removes the blocks that an admission added and no later prompt has used. */
  withdraw(chain: Chain, admission: Admission): void {
    let depth = this.depth(chain, admission.slot, chain.blocks);
    for (; depth > admission.from; depth--) {
      const entry = this.#entryOf(chain, depth - 1, admission.slot);
      if (this.#lists.stamp(entry) !== admission.stamp) return;
      this.#drop(admission.slot, entry, UNLIMITED, UNLIMITED);
    }
  }

  forget(slot: number): void {
    while (this.#lists.oldest(slot) !== 0) this.#drop(slot, this.#lists.oldest(slot), -1, UNLIMITED);
  }

  setCapacity(slot: number, tokens: number): void {
    this.#capacity[slot] = tokens;
    this.#trim(slot, 0);
  }

  /**
   * Tokens that are expected to be computed again some day if the slot held `tokens` more: those it would evict, times the chance that
   * its least recently used prompt is asked for again. And up to two, so that a tie goes to more room, then to the older prompt.
   */
  displaced(slot: number, tokens: number): number {
    const excess = this.#tokens[slot]! + tokens - this.#capacity[slot]!;
    if (excess < 0) return 1 + excess / this.#capacity[slot]!;
    const age = this.table.age(this.#lists.oldestStamp(slot));
    return 1 + 1 / (1 + age) + Math.min(tokens, excess) * this.#reuseAge.chanceAt(age);
  }

  slots(): readonly SlotResidency[] {
    return Array.from({ length: this.#slotsUsed }, (_, slot) => ({
      slot,
      entries: this.#entries[slot]!,
      tokens: this.#tokens[slot]!,
      capacityTokens: this.#capacity[slot]!,
    })).filter((residency) => residency.entries > 0);
  }

  /** Only the end of a prompt tells when it was last used. */
  #learnReuse(held: number): void {
    const stamp = this.#lists.stamp(held);
    if (stamp !== 0) this.#reuseAge.learn(this.table.age(stamp));
  }

  #entryOf(chain: Chain, block: number, slot: number): number {
    return this.table.find(chain.hashes[2 * block]!, chain.hashes[2 * block + 1]!, slot);
  }

  #dropGenerated(chain: Chain, block: number, slot: number): void {
    const low = chain.hashes[2 * block]! ^ GENERATED_LOW;
    const high = chain.hashes[2 * block + 1]! ^ GENERATED_HIGH;
    const entry = this.table.find(low, high, slot);
    if (entry !== 0) this.#drop(slot, entry, UNLIMITED, UNLIMITED);
  }

  /** Adds one block after `parent` (0 for the first); the table must have room. */
  #add(chain: Chain, block: number, slot: number, parent: number): number {
    const tokens = chain.tokensIn(block);
    const entry = this.table.add(chain.hashes[2 * block]!, chain.hashes[2 * block + 1]!, slot, parent, tokens);
    if (parent !== 0) this.#countChild(parent, 1);
    this.#tokens[slot]! += tokens;
    this.#entries[slot]!++;
    return entry;
  }

  /** Evicts the least recently used blocks until `room` more tokens fit, or the list is empty. */
  #trim(slot: number, room: number): void {
    const limit = this.#capacity[slot]! - room;
    while (this.#tokens[slot]! > limit && this.#lists.oldest(slot) !== 0) {
      this.#drop(slot, this.#lists.oldest(slot), limit, UNLIMITED);
    }
  }

  /** Evicts the least recently used blocks of all slots until `entries` are free, if possible; returns how many are free. */
  #makeRoom(entries: number): number {
    const { table } = this;
    const lists = this.#lists;
    const limit = table.maxEntries - entries;
    while (table.count > limit) {
      if (lists.oldest(this.#victim) === 0 || lists.oldestStamp(this.#victim) !== this.#victimStamp) this.#findVictim();
      const entry = lists.oldest(this.#victim);
      if (entry === 0) break;
      this.#drop(this.#victim, entry, UNLIMITED, limit);
    }
    return table.maxEntries - table.count;
  }

  #findVictim(): void {
    let oldestAge = -1;
    for (let slot = 0; slot < this.#slotsUsed; slot++) {
      if (this.#lists.oldest(slot) === 0) continue;
      const age = this.table.age(this.#lists.oldestStamp(slot));
      if (age <= oldestAge) continue;
      oldestAge = age;
      this.#victim = slot;
      this.#victimStamp = this.#lists.oldestStamp(slot);
    }
  }

  /**
   * If a longer prefix needs the listed entry, only unlists it. Else evicts it, then ancestors that have no other child and are
   * not listed, until the slot's tokens and the table's entries are within limits; the first survivor inherits its LRU position.
   */
  #drop(slot: number, listed: number, maxTokens: number, maxEntries: number): void {
    const { table } = this;
    const { words } = table;
    if (words[table.at(listed) + CHILDREN] !== 0) {
      this.#lists.remove(slot, listed);
      return;
    }
    const countBefore = table.count;
    let tokens = this.#tokens[slot]!;
    let heir = listed;
    do {
      tokens -= table.tokens(heir);
      const parent = words[table.at(heir) + PARENT]!;
      table.remove(heir);
      heir = parent;
      if (heir === 0) break;
      const at = table.at(heir);
      words[at + CHILDREN]!--;
      if (words[at + CHILDREN] !== 0 || words[at + STAMP] !== 0) break;
    } while (tokens > maxTokens || table.count > maxEntries);
    this.#tokens[slot] = tokens;
    this.#entries[slot]! -= countBefore - table.count;
    if (heir !== 0) this.#lists.handOver(slot, listed, heir);
    else this.#lists.remove(slot, listed);
  }

  #countChild(entry: number, change: 1 | -1): void {
    this.table.words[this.table.at(entry) + CHILDREN]! += change;
  }
}

/** Tokens of the blocks from `first` to the end. */
function tokensFrom(chain: Chain, first: number): number {
  let tokens = 0;
  for (let block = first; block < chain.blocks; block++) tokens += chain.tokensIn(block);
  return tokens;
}
