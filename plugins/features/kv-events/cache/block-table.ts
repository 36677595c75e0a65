/** Words of an entry: the engine's hash, the router's key, the next entries in both chains, and when it was added. */
const WORDS = 7;
const [OWN_LOW, OWN_HIGH, NEXT_BY_HASH, NEXT_BY_KEY, ADDED] = [2, 3, 4, 5, 6];
const FIRST_ENTRIES = 1_024;

/** Of the block that was added last to any table. It begins anew behind 2^32 of them. */
let lastAdded = 0;

/** A moment, for `heldSince`: a number that grows with each block that is added anywhere. */
export function blockMoment(): number {
  return lastAdded;
}

/** How many blocks all tables together may hold. */
export interface BlockBudget {
  left: number;
}

/**
 * The blocks that one engine has, found by the engine's hash and by the router's key. In typed arrays, because there may be a million;
 * entry 0 means "none".
 */
export class BlockTable {
  readonly #budget: BlockBudget;
  #size = 0;
  #entries = FIRST_ENTRIES;
  #words = new Int32Array(WORDS * FIRST_ENTRIES);
  #media = new Uint8Array(FIRST_ENTRIES);
  #byHash = new Int32Array(FIRST_ENTRIES);
  #byKey = new Int32Array(FIRST_ENTRIES);
  #free = 0;
  #fresh = 1;

  constructor(budget: BlockBudget) {
    this.#budget = budget;
  }

  get size(): number {
    return this.#size;
  }

  /** The entry of an engine's hash, or 0. */
  find(low: number, high: number): number {
    const words = this.#words;
    let entry = this.#byHash[bucket(low, high, this.#entries)]!;
    while (entry !== 0 && (words[WORDS * entry] !== low || words[WORDS * entry + 1] !== high))
      entry = words[WORDS * entry + NEXT_BY_HASH]!;
    return entry;
  }

  /** Whether the engine has a block of this key anywhere. */
  holds(low: number, high: number): boolean {
    return this.#withKey(this.#byKey[bucket(low, high, this.#entries)]!, low, high) !== 0;
  }

  /** Whether it has had one from that moment on: one that was removed and added anew is another one. */
  heldSince(low: number, high: number, moment: number): boolean {
    const words = this.#words;
    let entry = this.#withKey(this.#byKey[bucket(low, high, this.#entries)]!, low, high);
    while (entry !== 0 && ((words[WORDS * entry + ADDED]! - moment) | 0) > 0)
      entry = this.#withKey(words[WORDS * entry + NEXT_BY_KEY]!, low, high);
    return entry !== 0;
  }

  keyLow(entry: number): number {
    return this.#words[WORDS * entry + OWN_LOW]!;
  }

  keyHigh(entry: number): number {
    return this.#words[WORDS * entry + OWN_HIGH]!;
  }

  /** The engine has the block there too. */
  mark(entry: number, medium: number): void {
    this.#media[entry]! |= medium;
  }

  /** Adds a block whose hash the table does not have. False if there is no room for it. */
  add(low: number, high: number, keyLow: number, keyHigh: number, medium: number): boolean {
    if (this.#budget.left <= 0) return false;
    if (this.#free === 0 && this.#fresh === this.#entries) this.#grow();
    const entry = this.#free === 0 ? this.#fresh++ : this.#free;
    const words = this.#words;
    const at = WORDS * entry;
    if (entry === this.#free) this.#free = words[at + NEXT_BY_HASH]!;
    words[at] = low;
    words[at + 1] = high;
    words[at + OWN_LOW] = keyLow;
    words[at + OWN_HIGH] = keyHigh;
    lastAdded = (lastAdded + 1) | 0;
    words[at + ADDED] = lastAdded;
    this.#media[entry] = medium;
    this.#chain(entry);
    this.#size += 1;
    this.#budget.left -= 1;
    return true;
  }

  /** The engine does not have the block there any more. */
  remove(low: number, high: number, medium: number): void {
    const entry = this.find(low, high);
    if (entry === 0) return;
    const media = this.#media[entry]! & ~medium;
    this.#media[entry] = media;
    if (media !== 0) return;
    this.#unchain(this.#byHash, bucket(low, high, this.#entries), entry, NEXT_BY_HASH);
    this.#unchain(this.#byKey, bucket(this.keyLow(entry), this.keyHigh(entry), this.#entries), entry, NEXT_BY_KEY);
    this.#words[WORDS * entry + NEXT_BY_HASH] = this.#free;
    this.#free = entry;
    this.#size -= 1;
    this.#budget.left += 1;
  }

  clear(): void {
    this.#budget.left += this.#size;
    this.#size = 0;
    this.#free = 0;
    this.#fresh = 1;
    this.#entries = FIRST_ENTRIES;
    this.#words = new Int32Array(WORDS * FIRST_ENTRIES);
    this.#media = new Uint8Array(FIRST_ENTRIES);
    this.#byHash = new Int32Array(FIRST_ENTRIES);
    this.#byKey = new Int32Array(FIRST_ENTRIES);
  }

  /** Twice as many; all of them are in use. */
  #grow(): void {
    const entries = 2 * this.#entries;
    const words = new Int32Array(WORDS * entries);
    words.set(this.#words);
    const media = new Uint8Array(entries);
    media.set(this.#media);
    this.#words = words;
    this.#media = media;
    this.#entries = entries;
    this.#byHash = new Int32Array(entries);
    this.#byKey = new Int32Array(entries);
    for (let entry = 1; entry < this.#fresh; entry++) this.#chain(entry);
  }

  /** The first entry of this key from this one on; 0 for none. */
  #withKey(from: number, low: number, high: number): number {
    const words = this.#words;
    let entry = from;
    while (entry !== 0 && (words[WORDS * entry + OWN_LOW] !== low || words[WORDS * entry + OWN_HIGH] !== high))
      entry = words[WORDS * entry + NEXT_BY_KEY]!;
    return entry;
  }

  #chain(entry: number): void {
    const words = this.#words;
    const at = WORDS * entry;
    const byHash = bucket(words[at]!, words[at + 1]!, this.#entries);
    const byKey = bucket(words[at + OWN_LOW]!, words[at + OWN_HIGH]!, this.#entries);
    words[at + NEXT_BY_HASH] = this.#byHash[byHash]!;
    words[at + NEXT_BY_KEY] = this.#byKey[byKey]!;
    this.#byHash[byHash] = entry;
    this.#byKey[byKey] = entry;
  }

  #unchain(firsts: Int32Array, first: number, entry: number, next: number): void {
    const words = this.#words;
    let before = firsts[first]!;
    if (before === entry) {
      firsts[first] = words[WORDS * entry + next]!;
      return;
    }
    while (words[WORDS * before + next] !== entry) before = words[WORDS * before + next]!;
    words[WORDS * before + next] = words[WORDS * entry + next]!;
  }
}

/** Engines' hashes are mixed again: nothing says that their bits are. */
function bucket(low: number, high: number, buckets: number): number {
  const mixed = Math.imul(low ^ (high >>> 7), 0x9e3779b1) ^ high;
  return (mixed ^ (mixed >>> 15)) & (buckets - 1);
}
