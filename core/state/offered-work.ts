import type { Clock } from "../contract/clock.ts";

/** After this time, what was sent counts 1/e. */
const MEMORY_MS = 60_000;

/** How much is sent to each endpoint, as means over about the last minute, by slot. */
export class OfferedWork {
  readonly #clock: Pick<Clock, "now">;
  readonly #requests: Float64Array;
  readonly #workMs: Float64Array;
  readonly #sinceMs: Float64Array;

  constructor(slots: number, clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#requests = new Float64Array(slots);
    this.#workMs = new Float64Array(slots);
    this.#sinceMs = new Float64Array(slots);
  }

  /** A request was sent whose prompt takes the endpoint `workMs`. */
  add(slot: number, workMs: number): void {
    const nowMs = this.#clock.now();
    const kept = this.#keptAt(slot, nowMs);
    this.#requests[slot] = this.#requests[slot]! * kept + 1;
    this.#workMs[slot] = this.#workMs[slot]! * kept + workMs;
    this.#sinceMs[slot] = nowMs;
  }

  /** Requests per millisecond. */
  arrivalRate(slot: number, nowMs: number): number {
    return (this.#requests[slot]! * this.#keptAt(slot, nowMs)) / MEMORY_MS;
  }

  /** Milliseconds of prompt work per millisecond: above 1, more is sent than the endpoint can process. */
  share(slot: number, nowMs: number): number {
    return (this.#workMs[slot]! * this.#keptAt(slot, nowMs)) / MEMORY_MS;
  }

  forget(slot: number): void {
    this.#requests[slot] = 0;
    this.#workMs[slot] = 0;
  }

  #keptAt(slot: number, nowMs: number): number {
    return Math.exp((this.#sinceMs[slot]! - nowMs) / MEMORY_MS);
  }
}
