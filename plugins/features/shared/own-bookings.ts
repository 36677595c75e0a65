import type { Time } from "../../../core/contract/clock.ts";
import type { Booked, BookingListener } from "../../../core/state/booking-listener.ts";
import type { Outbox } from "./outbox.ts";

/** So many are in one summary; routers that have more tell of each one's end all the same. */
const MOST_SUMMED = 4_000;

interface Own {
  readonly id: number;
  isWaiting: boolean;
}

/** What this router has booked at replicas: says each change to the others, and from time to time all of it. */
export class OwnBookings implements BookingListener {
  readonly #outbox: Outbox;
  readonly #clock: Time;
  /** Something is to be said. */
  readonly #said: () => void;
  readonly #all = new Map<Booked, Own>();
  #lastId = 0;

  constructor(outbox: Outbox, clock: Time, said: () => void) {
    this.#outbox = outbox;
    this.#clock = clock;
    this.#said = said;
  }

  began(booked: Booked): void {
    this.#lastId += 1;
    this.#all.set(booked, { id: this.#lastId, isWaiting: true });
    const replica = this.#outbox.replica(booked.endpoint.url.href);
    this.#outbox.add("began", this.#lastId, replica, booked.tokens, booked.hasFirstByte ? 1 : 0, this.#clock.now());
    this.#said();
  }

  prefillEnded(booked: Booked, isProcessed: boolean): void {
    const own = this.#all.get(booked);
    if (own === undefined) return;
    own.isWaiting = false;
    this.#say("worked", own.id, isProcessed ? 1 : 0, this.#clock.now());
  }

  ended(booked: Booked): void {
    const own = this.#all.get(booked);
    if (own === undefined) return;
    this.#all.delete(booked);
    this.#say("ended", own.id);
  }

  cached(booked: Booked): void {
    const own = this.#all.get(booked);
    if (own === undefined) return;
    this.#outbox.addPrompt("cached", own.id, this.#outbox.replica(booked.endpoint.url.href), booked.request.prefix);
    this.#said();
  }

  withdrawn(booked: Booked): void {
    const own = this.#all.get(booked);
    if (own !== undefined) this.#say("withdrawn", own.id);
  }

  generated(booked: Booked, tokens: number): void {
    const own = this.#all.get(booked);
    if (own !== undefined) this.#say("generated", own.id, tokens);
  }

  /** Says all that is booked now: what was lost on the way is made good by it. */
  summary(): void {
    const rows: unknown[] = [];
    for (const [{ endpoint, tokens, hasFirstByte }, { id, isWaiting }] of this.#all) {
      if (rows.length === MOST_SUMMED) break;
      rows.push([id, this.#outbox.replica(endpoint.url.href), tokens, hasFirstByte ? 1 : 0, isWaiting ? 1 : 0]);
    }
    this.#outbox.add("load", this.#all.size <= MOST_SUMMED ? 1 : 0, rows);
  }

  #say(name: string, ...fields: readonly unknown[]): void {
    this.#outbox.add(name, ...fields);
    this.#said();
  }
}
