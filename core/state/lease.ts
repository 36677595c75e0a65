import type { LoadTable } from "./load.ts";
import type { PrefillWork } from "./prefill-queue.ts";

/**
 * One request's share of the load on one endpoint. Whoever holds it releases it on every way out; each step counts once,
 * however often it is called. A slot is not given to another endpoint while a lease on it is held.
 */
export class Lease {
  readonly #table: LoadTable;
  readonly #slot: number;
  readonly #work: PrefillWork;
  #isPrefilling = true;
  #isHeld = true;

  constructor(table: LoadTable, slot: number, work: PrefillWork) {
    this.#table = table;
    this.#slot = slot;
    this.#work = work;
    table.begin(slot, work);
  }

  /** The first response byte came: the prompt has been worked off. */
  firstByte(): void {
    this.#endPrefill(true);
  }

  /** The request ended, however it ended. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#endPrefill(false);
    this.#table.end(this.#slot);
  }

  #endPrefill(isWorkedOff: boolean): void {
    if (!this.#isPrefilling) return;
    this.#isPrefilling = false;
    this.#table.endPrefill(this.#slot, this.#work, isWorkedOff);
  }
}
