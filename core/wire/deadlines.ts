import type { Clock } from "../clock.ts";

/** A socket in some state that must not last for ever. */
export interface Timed {
  /** Called on every sweep; ends itself when its time is over. */
  sweep(nowMs: number): void;
}

/**
 * One timer for all sockets instead of one per request: each keeps its own deadline as a number and compares it on every
 * sweep. Deadlines are therefore met up to one period late.
 */
export class Deadlines {
  /** The time of the last sweep: free to read, at most one period old. */
  nowMs: number;
  readonly #members = new Set<Timed>();
  readonly #stop: () => void;

  constructor(clock: Clock, periodMs: number) {
    this.nowMs = clock.now();
    this.#stop = clock.every(periodMs, () => this.#sweep(clock.now()));
  }

  add(member: Timed): void {
    this.#members.add(member);
  }

  delete(member: Timed): void {
    this.#members.delete(member);
  }

  close(): void {
    this.#stop();
    this.#members.clear();
  }

  #sweep(nowMs: number): void {
    this.nowMs = nowMs;
    for (const member of this.#members) member.sweep(nowMs);
  }
}

/** A sweep period that meets the shortest of the given limits within a quarter of it. */
export function sweepPeriodMs(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(250, Math.min(...limitsMs) / 4));
}
