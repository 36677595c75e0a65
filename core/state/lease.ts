import type { LoadTable } from "./load.ts";
import type { PrefillWork } from "./prefill-queue.ts";

/**
 * One request's share of the load on one endpoint. The holder must release it however the request ends. Calling a method a
 * second time has no effect. While a lease on a slot is held, no other endpoint gets the slot.
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

  /** The first response byte came: the prompt is processed. */
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
