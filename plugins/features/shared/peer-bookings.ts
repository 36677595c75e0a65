import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { BadFact, list, whole } from "../../../core/contract/fact-fields.ts";
import type { LoadTable } from "../../../core/state/load.ts";
import type { PrefillWork } from "../../../core/state/prefill-queue.ts";
import type { PrefixIndex } from "../../../core/state/prefix-index.ts";
import type { Admission, Chain, Residency } from "../../../core/state/residency.ts";
import { fitsIndex } from "./chain-check.ts";

/** Of one router; further ones are not counted. */
const MOST_BOOKINGS = 8_192;
export const MOST_TOKENS = 2 ** 30;
/** The index counts them in 16 bits. */
const MOST_GENERATED = 0xffff;

/** Where another router's bookings are written: the tables that the router's own bookings fill. */
export interface Tables {
  readonly load: LoadTable;
  prefixIndex(): PrefixIndex | undefined;
}

interface PeerBooking {
  readonly work: PrefillWork;
  readonly slot: number;
  isWaiting: boolean;
  /** What it put into the prefix index. */
  prompt: { readonly chain: Chain; readonly admission: Admission; readonly residency: Residency } | undefined;
}

/** What another router has booked at replicas, by the numbers that it gave. */
export class PeerBookings {
  readonly #tables: Tables;
  readonly #all = new Map<number, PeerBooking>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  get count(): number {
    return this.#all.size;
  }

  began(id: number, { slot }: Endpoint, work: PrefillWork, atMs: number): void {
    if (this.#all.has(id) || this.#all.size >= MOST_BOOKINGS) return;
    this.#tables.load.begin(slot, work, atMs);
    this.#all.set(id, { work, slot, isWaiting: true, prompt: undefined });
  }

  worked(id: number, isProcessed: boolean, atMs: number): void {
    const booking = this.#all.get(id);
    if (booking !== undefined) this.#endPrefill(booking, isProcessed, atMs);
  }

  ended(id: number, nowMs: number): void {
    const booking = this.#all.get(id);
    if (booking === undefined) return;
    this.#all.delete(id);
    this.#endPrefill(booking, false, nowMs);
    this.#tables.load.end(booking.slot);
  }

  cached(id: number, { slot }: Endpoint, chain: Chain): void {
    const residency = this.#tables.prefixIndex()?.residency;
    if (residency === undefined) return;
    if (!fitsIndex(chain, residency, slot)) throw new BadFact("no prompt has these blocks");
    const admission = residency.admit(chain, slot, 0);
    const booking = this.#all.get(id);
    if (booking?.slot === slot) booking.prompt = { chain, admission, residency };
  }

  withdrawn(id: number): void {
    const booking = this.#all.get(id);
    if (booking?.prompt === undefined) return;
    const { chain, admission, residency } = booking.prompt;
    booking.prompt = undefined;
    if (residency === this.#tables.prefixIndex()?.residency) residency.withdraw(chain, admission);
  }

  generated(id: number, tokens: number): void {
    const index = this.#tables.prefixIndex();
    const booking = this.#all.get(id);
    if (booking?.prompt === undefined || index?.residency !== booking.prompt.residency || !index.countsGenerated) return;
    index.residency.extend(booking.prompt.chain, booking.slot, Math.min(MOST_GENERATED, tokens));
  }

  /** These are all that it has. `isWhole`: no others; those that are not among them have ended. */
  sum(rows: readonly unknown[], isWhole: boolean, endpointAt: (place: unknown) => Endpoint | undefined, nowMs: number): void {
    const listed = new Set<number>();
    for (const row of rows) {
      const [number, place, tokens, hasFirstByte, isWaiting] = list(row, 16);
      const id = whole(number);
      listed.add(id);
      const endpoint = endpointAt(place);
      if (endpoint === undefined) continue;
      this.began(id, endpoint, { tokens: whole(tokens, MOST_TOKENS), hasFirstByte: hasFirstByte === 1 }, nowMs);
      if (isWaiting !== 1) this.worked(id, false, nowMs);
    }
    if (isWhole) for (const id of this.#all.keys()) if (!listed.has(id)) this.ended(id, nowMs);
  }

  /** The router has gone, and what it had booked with it. */
  drop(nowMs: number): void {
    for (const id of this.#all.keys()) this.ended(id, nowMs);
  }

  #endPrefill(booking: PeerBooking, isProcessed: boolean, nowMs: number): void {
    if (!booking.isWaiting) return;
    booking.isWaiting = false;
    this.#tables.load.endPrefill(booking.slot, booking.work, isProcessed, nowMs);
  }
}
