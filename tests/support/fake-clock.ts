import type { Clock } from "../../core/contract/clock.ts";

interface Timer {
  readonly run: () => void;
  readonly periodMs: number | undefined;
  dueMs: number;
}

/** A clock that a test moves by hand. */
export class FakeClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#nowMs;
  }

  wall(): number {
    return Date.UTC(2030, 0, 1) + this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    return this.#add(ms, run, undefined);
  }

  every(ms: number, run: () => void): () => void {
    return this.#add(ms, run, ms);
  }

  /** Timers that are still to fire. */
  get pending(): number {
    return this.#timers.size;
  }

  /** When the next timer fires; Infinity without one. */
  get nextMs(): number {
    return this.#earliest(Number.POSITIVE_INFINITY)?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Moves the time on and fires what falls due, in order; promises settle before each timer and at the end. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    for (let next = this.#earliest(endMs); next !== undefined; next = this.#earliest(endMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      if (next.periodMs === undefined) this.#timers.delete(next);
      else next.dueMs += Math.max(1, next.periodMs);
      next.run();
      await settle();
    }
    this.#nowMs = endMs;
  }

  /** The process stands still: the time moves on, and what falls due fires late, when the clock is advanced again. */
  standStill(ms: number): void {
    this.#nowMs += ms;
  }

  #add(ms: number, run: () => void, periodMs: number | undefined): () => void {
    const timer: Timer = { run, periodMs, dueMs: this.#nowMs + ms };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  #earliest(endMs: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs <= endMs && (earliest === undefined || timer.dueMs < earliest.dueMs)) earliest = timer;
    }
    return earliest;
  }
}

/** Lets every promise that can go on now go on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
