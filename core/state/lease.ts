import type { LoadTable } from "./load.ts";
import type { PrefillWork } from "./prefill-queue.ts";
import type { ReplicaSpeed } from "./replica-speeds.ts";

/** What is believed of a prompt's tokens that are not cached. */
interface Uncached {
  readonly tokens: number;
  /** Of these, so many may be cached after all. */
  readonly uncertain: number;
}

/**
 * One request's share of the load on one endpoint. The holder must release it however the request ends. Calling a method a
 * second time has no effect. While a lease on a slot is held, no other endpoint gets the slot.
 */
export class Lease {
  readonly #table: LoadTable;
  readonly #slot: number;
  readonly #work: PrefillWork;
  readonly #speed: ReplicaSpeed;
  #uncached: Uncached;
  /** What the prompt took, in milliseconds; NaN if that is unknown. */
  #tookMs = Number.NaN;
  #isPrefilling = true;
  #isHeld = true;

  /** `uncertain`: so many of the work's tokens may be cached after all. */
  constructor(table: LoadTable, slot: number, work: PrefillWork, uncertain: number, nowMs: number) {
    this.#table = table;
    this.#slot = slot;
    this.#work = work;
    this.#speed = table.speedOf(slot);
    this.#uncached = { tokens: work.tokens, uncertain };
    table.begin(slot, work, nowMs);
  }

  /** The first response byte came: the prompt is processed. The speed learns of it now, unless a report will say more. */
  firstByte(nowMs: number): void {
    this.#endPrefill(true, nowMs);
    if (!this.#speed.isReported) this.#measure(nowMs);
  }

  /** The replica reported, with the end of its response, how many tokens of the prompt were not cached. */
  reported(tokens: number): void {
    this.#speed.isReported = true;
    this.#uncached = { tokens, uncertain: 0 };
  }

  /** Whether the endpoint works on the prompt by now, or has. */
  hasBegun(nowMs: number): boolean {
    return !this.#isPrefilling || this.#table.hasBegun(this.#slot, this.#work, nowMs);
  }

  /** The request ended, however it ended. */
  release(nowMs: number): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#endPrefill(false, nowMs);
    this.#table.end(this.#slot);
    this.#measure(nowMs);
  }

  #measure(nowMs: number): void {
    if (Number.isNaN(this.#tookMs)) return;
    this.#speed.measured(this.#uncached.tokens, this.#uncached.uncertain, this.#tookMs, nowMs);
    this.#tookMs = Number.NaN;
  }

  #endPrefill(isWorkedOff: boolean, nowMs: number): void {
    if (!this.#isPrefilling) return;
    this.#isPrefilling = false;
    this.#tookMs = this.#table.endPrefill(this.#slot, this.#work, isWorkedOff, nowMs);
  }
}
