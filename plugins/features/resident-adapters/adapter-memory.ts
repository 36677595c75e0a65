/** Adapters that are remembered of an engine whose room is not known. */
const MOST_KEPT = 1024;
/** Of an engine whose room is not known: how soon it is believed to have no more. */
const DOUBT = 2;

/**
 * What one engine is believed to hold, by what was sent to it. As in vLLM, the adapter that was used least recently gives way, and one
 * with a request under way does not. `most`: how many it has room for; NaN if that is not known.
 */
export class AdapterMemory {
  /** Requests under way, by adapter; the least recently used one first. */
  readonly #held = new Map<string, number>();

  get names(): readonly string[] {
    return [...this.#held.keys()];
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** It was used now. `change`: of its requests under way. Returns those that have given way. */
  used(name: string, change: 1 | 0 | -1, most: number): readonly string[] {
    const count = Math.max(0, (this.#held.get(name) ?? 0) + change);
    this.#held.delete(name);
    this.#held.set(name, count);
    return this.#makeRoom(most || MOST_KEPT);
  }

  /** A request for it has ended at which the engine did not work: if nobody else uses it, it is not there. */
  withdraw(name: string): boolean {
    const count = (this.#held.get(name) ?? 0) - 1;
    if (count > 0) this.#held.set(name, count);
    return count <= 0 && this.#held.delete(name);
  }

  /** How likely it is one of the `most` that were used last. */
  chanceOfHolding(name: string, most: number): number {
    const newer = this.#newerThan(name);
    if (newer === Number.POSITIVE_INFINITY) return 0;
    return Number.isNaN(most) ? DOUBT / (DOUBT + newer) : Number(newer < most);
  }

  /** How likely another one has to give way for one more, beside `others` that this router has not sent. */
  chanceOfFull(most: number, others: number): number {
    const used = this.#held.size + others;
    return Number.isNaN(most) ? used / (DOUBT + used) : Number(used >= most);
  }

  /** Which of the `most` that were used last would give way; undefined if all are in use. */
  victim(most: number): string | undefined {
    let newer = this.#held.size;
    for (const [name, count] of this.#held) {
      newer -= 1;
      if (count === 0 && !(newer >= most)) return name;
    }
    return undefined;
  }

  /** How many were used after it; Infinity for one that is not there. */
  #newerThan(name: string): number {
    let newer = this.#held.has(name) ? this.#held.size : Number.POSITIVE_INFINITY;
    if (newer === Number.POSITIVE_INFINITY) return newer;
    for (const other of this.#held.keys()) {
      newer -= 1;
      if (other === name) break;
    }
    return newer;
  }

  #makeRoom(most: number): readonly string[] {
    if (this.#held.size <= most) return NONE;
    const gone: string[] = [];
    for (const [name, count] of this.#held) {
      if (this.#held.size <= most) break;
      if (count === 0) this.#held.delete(name);
      if (count === 0) gone.push(name);
    }
    return gone;
  }
}

const NONE: readonly string[] = [];
