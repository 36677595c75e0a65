import type { Clock } from "../contract/clock.ts";
import { MinHeap } from "./heap.ts";

/** What `wall` says when a simulation begins; any fixed moment will do. */
const START_WALL_MS = Date.UTC(2030, 0, 1);
/** A timer that asks for less would keep simulated time from passing. */
const MIN_PERIOD_MS = 1;

/** Simulated time: it stands still while something runs and jumps to whatever is due next. */
export class EventQueue implements Clock {
  readonly #events = new MinHeap<() => void>();
  #nowMs = 0;

  now(): number {
    return this.#nowMs;
  }

  wall(): number {
    return START_WALL_MS + this.#nowMs;
  }

  /** Calls `run` at that time, or next if it is past. */
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

  /** Moves on to the next event and runs it; false when there is none. */
  runNext(): boolean {
    const atMs = this.#events.minKey;
    const run = this.#events.pop();
    if (run === undefined) return false;
    this.#nowMs = atMs;
    run();
    return true;
  }
}
