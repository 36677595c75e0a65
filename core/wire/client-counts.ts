/** Counts what each client address has at the same time (requests, connections), up to a bound. A bound of 0 turns it off. */
export class ClientCounts {
  #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more; false, and nothing is counted, where the address is at its bound. "" is a client that can't be told apart. */
  enter(address: string): boolean {
    if (this.#most === 0 || address === "") return true;
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#most) return false;
    this.#counts.set(address, count + 1);
    return true;
  }

  /** Once for each `enter` that returned true. */
  leave(address: string): void {
    if (this.#most === 0 || address === "") return;
    const count = this.#counts.get(address) ?? 0;
    if (count > 1) this.#counts.set(address, count - 1);
    else this.#counts.delete(address);
  }

  /**
   * Counts with another bound. Where there is no bound nothing is counted, so the first bound counts from 0: whoever is here
   * then leaves the counts that it entered.
   */
  bounded(most: number): ClientCounts {
    if (most === this.#most) return this;
    if (most === 0 || this.#most === 0) return new ClientCounts(most);
    this.#most = most;
    return this;
  }

  /** Addresses that have any. */
  get size(): number {
    return this.#counts.size;
  }
}
