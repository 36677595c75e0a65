import type { Booked } from "./booking-listener.ts";

/** What is believed of the adapters that engines hold, in place of what their metrics do not say. Reading changes nothing. */
export interface ResidentAdapters {
  /** See LoadView.adapterMs. */
  waitMs(slot: number, name: string): number;
  /** Returns true if the adapter is loaded for this request. */
  began(booked: Booked): boolean;
  /** The first token of a stream came after `seenMs`; so many prompt tokens were ahead of it, its own included. */
  firstToken(booked: Booked, seenMs: number, tokensAhead: number): void;
  /** `isServed`: the engine worked on it. */
  ended(booked: Booked, isServed: boolean): void;
}
