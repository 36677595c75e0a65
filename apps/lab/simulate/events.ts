import type { Clock } from "../../../core/contract/clock.ts";

/** The wall-clock time at which every simulation starts; any fixed value works. */
const START_WALL_MS = Date.UTC(2030, 0, 1);
/** A repeating timer with a shorter period could stop simulated time from advancing. */
const MIN_PERIOD_MS = 1;

interface Due {
  readonly atMs: number;
  /** How many were added before it. */
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (one: Due, other: Due) => one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

/** A clock of simulated time. Time does not pass while an event runs; it jumps to the time of the next event. */
export class EventQueue implements Clock {
  /** A binary heap: the earliest event first, at equal times in the order of adding. */
  readonly #heap: Due[] = [];
  #added = 0;
  #nowMs = 0;

  now(): number {
    return this.#nowMs;
  }

  wall(): number {
    return START_WALL_MS + this.#nowMs;
  }

  /** Calls `run` at that time. If the time has passed, `run` is called at the current one. */
  at(atMs: number, run: () => void): void {
    const heap = this.#heap;
    const due = { atMs: Math.max(atMs, this.#nowMs), order: this.#added++, run };
    let at = heap.length;
    for (let parent = (at - 1) >> 1; at > 0 && isBefore(due, heap[parent]!); parent = (at - 1) >> 1) {
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = due;
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
    const [next] = this.#heap;
    const last = this.#heap.pop();
    if (next === undefined || last === undefined) return false;
    if (next !== last) this.#sink(last);
    this.#nowMs = next.atMs;
    next.run();
    return true;
  }

  /** Puts an event in the place of the first one, and down until none below it is earlier. */
  #sink(due: Due): void {
    const heap = this.#heap;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (isBefore(due, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = due;
  }
}
