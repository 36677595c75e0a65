import { NEWER, OLDER, type PrefixTable, STAMP } from "./prefix-table.ts";

/** One doubly linked list of entries for each slot, from the least to the most recently used. */
export class RecencyLists {
  readonly #table: PrefixTable;
  readonly #words: Int32Array;
  readonly #oldest: Int32Array;
  readonly #newest: Int32Array;
  /** Stamp of each slot's oldest entry, in one array so that finding the oldest of all slots is quick. */
  readonly #oldestStamp: Int32Array;

  constructor(table: PrefixTable) {
    this.#table = table;
    this.#words = table.words;
    this.#oldest = table.slotNumbers("oldest");
    this.#newest = table.slotNumbers("newest");
    this.#oldestStamp = table.slotNumbers("oldestStamp");
  }

  /** The slot's least recently used entry; 0 when its list is empty. */
  oldest(slot: number): number {
    return this.#oldest[slot]!;
  }

  oldestStamp(slot: number): number {
    return this.#oldestStamp[slot]!;
  }

  /** When the entry was last used; 0 when it is in no list. */
  stamp(entry: number): number {
    return this.#words[this.#table.at(entry) + STAMP]!;
  }

  /** Adds an entry that is in no list. */
  addNewest(slot: number, entry: number, stamp: number): void {
    this.#words[this.#table.at(entry) + STAMP] = stamp;
    this.#join(slot, this.#newest[slot]!, entry);
    this.#join(slot, entry, 0);
  }

  remove(slot: number, entry: number): void {
    const at = this.#table.at(entry);
    this.#words[at + STAMP] = 0;
    this.#join(slot, this.#words[at + OLDER]!, this.#words[at + NEWER]!);
  }

  /** Removes a listed entry and puts `heir` in its position, unless `heir` is listed at a later one. */
  handOver(slot: number, entry: number, heir: number): void {
    const words = this.#words;
    const stamp = this.stamp(entry);
    const heirStamp = this.stamp(heir);
    if (heirStamp !== 0 && this.#table.age(heirStamp) <= this.#table.age(stamp)) {
      this.remove(slot, entry);
      return;
    }
    if (heirStamp !== 0) this.remove(slot, heir);
    const at = this.#table.at(entry);
    words[at + STAMP] = 0;
    words[this.#table.at(heir) + STAMP] = stamp;
    this.#join(slot, words[at + OLDER]!, heir);
    this.#join(slot, heir, words[at + NEWER]!);
  }

  /** Links two neighbours; 0 means the end of the list. */
  #join(slot: number, older: number, newer: number): void {
    if (older !== 0) this.#words[this.#table.at(older) + NEWER] = newer;
    else this.#setOldest(slot, newer);
    if (newer !== 0) this.#words[this.#table.at(newer) + OLDER] = older;
    else this.#newest[slot] = older;
  }

  #setOldest(slot: number, entry: number): void {
    this.#oldest[slot] = entry;
    this.#oldestStamp[slot] = entry === 0 ? 0 : this.stamp(entry);
  }
}
