import type { Clock } from "../contract/clock.ts";
import { MinHeap } from "./heap.ts";

/** The wall-clock time at which every simulation starts; any fixed value works. */
const START_WALL_MS = Date.UTC(2030, 0, 1);
/** A repeating timer with a shorter period could stop simulated time from advancing. */
const MIN_PERIOD_MS = 1;

/** A clock of simulated time. Time does not pass while an event runs; it jumps to the time of the next event. */
export class EventQueue implements Clock {
  readonly #events = new MinHeap<() => void>();
  #nowMs = 0;

  now(): number {
    return this.#nowMs;
  }

  wall(): number {
    return START_WALL_MS + this.#nowMs;
  }

  /** Calls `run` at that time. If the time has passed, `run` is called at the current one. */
  at(atMs: number, run: () => void): void {
    this.#events.push(Math.max(atMs, this.#nowMs), run);
  }

  after(ms: number, run: () => void): () => void {
    let isDue = true;
    this.at(this.#nowMs + ms, () => {
      if (isDue) run();
    });
    return () => {
      isDue = false;
    };
  }

  every(ms: number, run: () => void): () => void {
    const periodMs = Math.max(MIN_PERIOD_MS, ms);
    let isDue = true;
    const turn = () => {
      if (!isDue) return;
      this.at(this.#nowMs + periodMs, turn);
      run();
    };
    this.at(this.#nowMs + periodMs, turn);
    return () => {
      isDue = false;
    };
  }

  /** Advances to the next event and runs it. Returns false when there is none. */
  runNext(): boolean {
    const atMs = this.#events.minKey;
    const run = this.#events.pop();
    if (run === undefined) return false;
    this.#nowMs = atMs;
    run();
    return true;
  }
}
