import type { Clock } from "../contract/clock.ts";

/** A socket in some state that must not last for ever. */
export interface Timed {
  /** Called on every sweep; ends itself when its time is over. */
  sweep(nowMs: number): void;
}

/** A sweep that comes later than this many periods after the last counts as one that came then. */
const MOST_PERIODS = 2;

/**
 * One timer for all sockets instead of one per request: each keeps its own deadline as a number and compares it on every
 * sweep. Deadlines are therefore met up to one period late.
 */
export class Deadlines {
  /**
   * The time of the last sweep: free to read, at most one period old. Time in which the process stood still does not count:
   * what the peers sent meanwhile has not been read yet, so it must not look like silence.
   */
  nowMs: number;
  readonly #members = new Set<Timed>();
  readonly #stop: () => void;
  readonly #periodMs: number;
  #sweptAtMs: number;

  constructor(clock: Clock, periodMs: number) {
    this.#periodMs = periodMs;
    this.#sweptAtMs = clock.now();
    this.nowMs = this.#sweptAtMs;
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

  #sweep(clockMs: number): void {
    this.nowMs += Math.min(clockMs - this.#sweptAtMs, MOST_PERIODS * this.#periodMs);
    this.#sweptAtMs = clockMs;
    for (const member of this.#members) member.sweep(this.nowMs);
  }
}

/** A sweep period that meets the shortest of the given limits within a quarter of it. */
export function sweepPeriodMs(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(250, Math.min(...limitsMs) / 4));
}
