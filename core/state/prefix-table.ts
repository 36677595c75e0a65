import { MAX_SLOTS } from "./load.ts";

// One entry means: the endpoint in this slot holds the prefix with this hash. All entries and counters are in one ArrayBuffer,
// which a single thread uses. Its size is fixed by the memory bound; the system commits memory only as it is first used. The hash
// table grows by linear hashing, so that no request pays for a full rehash. It has two buckets per entry until it is half full, and
// at most one for each that it has room for: a long chain is a cache miss for each entry in it. Entry 0 means "none".

// Offsets of an entry's words.
const KEY = 0;
const HIGH = 1;
/** Next entry of the same bucket, or of the free list. */
const NEXT = 2;
export const PARENT = 3;
export const OLDER = 4;
export const NEWER = 5;
/** Entries of the same slot whose prefix is one block longer. */
export const CHILDREN = 6;
/** When a prompt that ends here was last sent; 0 for an entry that is in no list. */
export const STAMP = 7;
const WORDS = 8;

/** An entry's words, plus four bytes for one bucket and two for the tokens of its block. */
const ENTRY_BYTES = 4 * WORDS + 4 + 2;
const MIN_ENTRIES = 256;
const ENTRY_BITS = 27;
/** The most entries that a bucket's number bits can address. */
const MAX_ENTRIES = 2 ** ENTRY_BITS;

// A bucket holds the number of its first entry and, in the upper bits, a mark for each entry added since it was last empty. Most
// look-ups are for prefixes that a slot does not hold: where the mark is missing they read no entry, which saves a cache miss.
const ENTRY_MASK = MAX_ENTRIES - 1;
const MARKS_MASK = ~ENTRY_MASK;
const MARKS = 32 - ENTRY_BITS;

// Counters at the start of the buffer.
const FREE = 0;
const FRESH = 1;
const COUNT = 2;
const BUCKETS = 3;
const TICK = 4;
const COUNTERS = 5;

const SLOT_NUMBERS = ["oldest", "newest", "oldestStamp", "tokens", "capacity", "entries"] as const;
const FIXED_BYTES = 4 * (COUNTERS + SLOT_NUMBERS.length * MAX_SLOTS);

/** The entries of all slots, found by hash and slot. */
export class PrefixTable {
  readonly bytes: number;
  readonly maxEntries: number;
  /** The words of all entries; those of entry `e` start at `at(e)`. */
  readonly words: Int32Array;
  readonly #tokens: Uint16Array;
  readonly #counters: Int32Array;
  readonly #slots: readonly Int32Array[];
  readonly #buckets: Int32Array;

  constructor(maxBytes: number) {
    const rows = Math.min(MAX_ENTRIES, Math.floor((maxBytes - FIXED_BYTES) / ENTRY_BYTES));
    this.maxEntries = rows - 1;
    if (!(this.maxEntries >= MIN_ENTRIES)) throw new RangeError("maxBytes of the prefix index must be at least 65536");
    this.bytes = FIXED_BYTES + rows * ENTRY_BYTES;
    const buffer = new ArrayBuffer(this.bytes);
    let offset = 0;
    const carve = (length: number) => {
      const words = new Int32Array(buffer, offset, length);
      offset += words.byteLength;
      return words;
    };
    this.#counters = carve(COUNTERS);
    this.#counters[FRESH] = 1;
    this.#counters[BUCKETS] = 1;
    this.#slots = SLOT_NUMBERS.map(() => carve(MAX_SLOTS));
    this.#buckets = carve(rows);
    this.words = carve(rows * WORDS);
    this.#tokens = new Uint16Array(buffer, offset, rows);
  }

  get count(): number {
    return this.#counters[COUNT]!;
  }

  /** One number for each slot. */
  slotNumbers(name: (typeof SLOT_NUMBERS)[number]): Int32Array {
    return this.#slots[SLOT_NUMBERS.indexOf(name)]!;
  }

  /** A stamp for "now", later than all before it; never 0. It may wrap around, because ages are differences. */
  tick(): number {
    const next = (this.#counters[TICK]! + 1) | 0;
    this.#counters[TICK] = next === 0 ? 1 : next;
    return this.#counters[TICK]!;
  }

  age(stamp: number): number {
    return (this.#counters[TICK]! - stamp) >>> 0;
  }

  at(entry: number): number {
    return entry * WORDS;
  }

  tokens(entry: number): number {
    return this.#tokens[entry]!;
  }

  /** The entry of a hash in a slot, or 0. A block's slots have neighbouring buckets, so one cache line serves sixteen of them. */
  find(low: number, high: number, slot: number): number {
    const words = this.words;
    const key = (low + slot) | 0;
    const bucket = this.#buckets[this.#bucketOf(key)]!;
    if ((bucket & markOf(high)) === 0) return 0;
    let entry = bucket & ENTRY_MASK;
    while (entry !== 0) {
      const at = entry * WORDS;
      if (words[at] === key && words[at + HIGH] === high) return entry;
      entry = words[at + NEXT]!;
    }
    return 0;
  }

  /** Adds an entry for a hash that has none yet, without children and in no list; the table must have room. */
  add(low: number, high: number, slot: number, parent: number, tokens: number): number {
    const entry = this.#take();
    const words = this.words;
    const at = entry * WORDS;
    const key = (low + slot) | 0;
    words[at + KEY] = key;
    words[at + HIGH] = high;
    words[at + PARENT] = parent;
    this.#tokens[entry] = tokens;
    this.#counters[COUNT]!++;
    const buckets = Math.min(2 * this.count, this.#buckets.length);
    while (this.#counters[BUCKETS]! < buckets) this.#splitBucket();
    this.#chain(entry);
    return entry;
  }

  /** Frees an entry that has no children. If it is in a list, the caller must unlist it before the next `add`. */
  remove(entry: number): void {
    const words = this.words;
    const at = entry * WORDS;
    const bucket = this.#bucketOf(words[at + KEY]!);
    const held = this.#buckets[bucket]!;
    const first = held & ENTRY_MASK;
    const next = words[at + NEXT]!;
    if (first === entry) this.#buckets[bucket] = next === 0 ? 0 : (held & MARKS_MASK) | next;
    else words[this.#before(entry, first) * WORDS + NEXT] = next;
    words[at + NEXT] = this.#counters[FREE]!;
    this.#counters[FREE] = entry;
    this.#counters[COUNT]!--;
  }

  /** The bucket of a key: as many low bits as number all buckets, or one bit less if that bucket does not exist yet. */
  #bucketOf(key: number): number {
    const buckets = this.#counters[BUCKETS]!;
    const mask = 0xffffffff >>> Math.clz32(buckets);
    const bucket = key & mask;
    return bucket < buckets ? bucket : bucket & (mask >>> 1);
  }

  #chain(entry: number): void {
    const words = this.words;
    const at = entry * WORDS;
    const bucket = this.#bucketOf(words[at + KEY]!);
    const before = this.#buckets[bucket]!;
    words[at + NEXT] = before & ENTRY_MASK;
    this.#buckets[bucket] = (before & MARKS_MASK) | markOf(words[at + HIGH]!) | entry;
  }

  /** Adds one bucket and distributes the entries of the bucket it splits from. */
  #splitBucket(): void {
    const opened = this.#counters[BUCKETS]!++;
    const split = opened & (0x7fffffff >>> Math.clz32(opened));
    let entry = this.#buckets[split]! & ENTRY_MASK;
    this.#buckets[split] = 0;
    while (entry !== 0) {
      const next = this.words[entry * WORDS + NEXT]!;
      this.#chain(entry);
      entry = next;
    }
  }

  #before(entry: number, first: number): number {
    let before = first;
    while (this.words[before * WORDS + NEXT] !== entry) before = this.words[before * WORDS + NEXT]!;
    return before;
  }

  #take(): number {
    const free = this.#counters[FREE]!;
    if (free !== 0) {
      this.#counters[FREE] = this.words[free * WORDS + NEXT]!;
      return free;
    }
    return this.#counters[FRESH]!++;
  }
}

/** The mark of a hash, from its upper bits: the bucket's number comes from other bits. */
function markOf(high: number): number {
  return 1 << (ENTRY_BITS + (((high >>> 16) * MARKS) >>> 16));
}
