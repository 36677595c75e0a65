import type { Clock } from "../contract/clock.ts";
import { lostMs } from "../contract/standstill.ts";

/** Something that must end when its deadline has passed. */
export interface Timed {
  /** Called on every sweep with the time of that sweep; compares it with the member's own deadline. */
  sweep(nowMs: number): void;
}

/**
 * One timer for all sockets instead of one per request: each member keeps its own deadline as a number and compares it on every
 * sweep. A deadline counted from `nowMs` never fires early, and at most two periods late.
 */
export class Deadlines {
  /**
   * The time to count a new deadline from: now, or up to one period ahead. It is the latest time that the next sweep can have, so
   * reading it costs no look at the clock. A sweep that comes late counts as one period after the last: while the process
   * stood still, it has not read what its peers sent, and must not take that for silence.
   */
  nowMs: number;
  /** The same time on the clock. `nowMs` falls behind the clock by all that sweeps were ever late, so compare other times with this. */
  clockMs: number;
  /** The same time on the clock without standstills of the process: silence of peers is counted in it. */
  awakeMs: number;
  readonly #clock: Clock;
  readonly #members = new Set<Timed>();
  #stop: () => void;
  #periodMs: number;
  /** The time of the last sweep, as members are told, and on the clock. */
  #sweptMs: number;
  #sweptAtMs: number;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#sweptAtMs = clock.now();
    this.#sweptMs = this.#sweptAtMs;
    this.nowMs = this.#sweptMs + periodMs;
    this.clockMs = this.#sweptAtMs + periodMs;
    this.awakeMs = this.clockMs;
    this.#stop = this.#start();
  }

  add(member: Timed): void {
    this.#members.add(member);
  }

  delete(member: Timed): void {
    this.#members.delete(member);
  }

  /** Sweeps now, and from now on in this period. */
  retime(periodMs: number): void {
    if (periodMs === this.#periodMs) return;
    this.#stop();
    this.#sweep(this.#clock.now());
    this.#periodMs = periodMs;
    this.nowMs = this.#sweptMs + periodMs;
    this.clockMs = this.#sweptAtMs + periodMs;
    this.#stop = this.#start();
  }

  close(): void {
    this.#stop();
    this.#members.clear();
  }

  #start(): () => void {
    return this.#clock.every(this.#periodMs, () => this.#sweep(this.#clock.now()));
  }

  #sweep(clockMs: number): void {
    const elapsedMs = clockMs - this.#sweptAtMs;
    this.awakeMs += elapsedMs - lostMs(elapsedMs, this.#periodMs);
    this.#sweptMs += Math.min(elapsedMs, this.#periodMs);
    this.#sweptAtMs = clockMs;
    this.nowMs = this.#sweptMs + this.#periodMs;
    this.clockMs = clockMs + this.#periodMs;
    for (const member of this.#members) member.sweep(this.#sweptMs);
  }
}

/** The period between sweeps: a quarter of the shortest of the given limits, and 10 to 250 ms. */
export function sweepPeriodMs(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(250, Math.min(...limitsMs) / 4));
}
