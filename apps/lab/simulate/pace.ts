import type { EventQueue } from "./events.ts";

/** A replica's own time, which passes faster or slower than simulated time, or stands still. One thing at a time is planned in it. */
export class Pace {
  readonly #queue: EventQueue;
  /** Milliseconds of own time for each simulated one. */
  #factor = 1;
  /** When the factor last changed, in simulated time and in own time. */
  #simulatedChangeMs = 0;
  #changedMs = 0;
  #plan: { readonly atMs: number; readonly run: () => void } | undefined;
  /** A plan that was scheduled before a change is not due any more. */
  #schedule = 0;

  constructor(queue: EventQueue) {
    this.#queue = queue;
  }

  get factor(): number {
    return this.#factor;
  }

  /** When the factor last changed, in own time. */
  get changedMs(): number {
    return this.#changedMs;
  }

  /** Own time. */
  now(): number {
    return this.#changedMs + (this.#queue.now() - this.#simulatedChangeMs) * this.#factor;
  }

  /** The simulated time of an own time since the last change; only while the factor is not 0. */
  simulated(ownMs: number): number {
    return this.#simulatedChangeMs + (ownMs - this.#changedMs) / this.#factor;
  }

  change(factor: number): void {
    if (factor === this.#factor) return;
    this.#changedMs = this.now();
    this.#simulatedChangeMs = this.#queue.now();
    this.#factor = factor;
    this.#reschedule();
  }

  /** Calls `run` at that own time, instead of what was planned before. */
  plan(atMs: number, run: () => void): void {
    this.#plan = { atMs, run };
    this.#reschedule();
  }

  cancel(): void {
    this.#plan = undefined;
    this.#schedule += 1;
  }

  #reschedule(): void {
    this.#schedule += 1;
    const schedule = this.#schedule;
    const plan = this.#plan;
    if (plan === undefined || this.#factor === 0) return;
    this.#queue.at(this.simulated(plan.atMs), () => {
      if (schedule !== this.#schedule) return;
      this.#plan = undefined;
      plan.run();
    });
  }
}
